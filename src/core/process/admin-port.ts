import type { Server } from 'node:http';
import type { Logger } from 'pino';
import type { Clock } from '../../plugin/index.ts';
import type { Address } from '../http/listener/listeners.ts';
import type { AlertDesk } from '../ports/alert.ts';
import type { BootRow } from '../ports/boots.ts';
import type { OpenStore } from '../ports/store.ts';
import type { RecordSource } from '../record/record-query.ts';
import type { ServerSettings } from '../settings/compile/server-settings.ts';
import type { TlsIdentity } from '../settings/read/tls-files.ts';
import type { Environment } from '../settings/values/references.ts';
import type { AskParts } from './ask-parts.ts';
import type { Captures } from './captures-port.ts';
import type { Console } from './console-port.ts';
import type { Explain, ExplainSource } from './explain-port.ts';
import type { ObjectTrials } from './object-trials.ts';
import type { InForce, LastReload } from './reload.ts';

/** The listener for operators. An add-on has it. */
export interface AdminListener {
  readonly server: Server;
  /** Undefined: `admin.enabled: false`. Rejects with CannotListen. */
  listen(admin: ServerSettings['admin']): Promise<Address | undefined>;
}

export interface AdminOptions extends ApiSources {
  readonly log: Pick<Logger, 'error' | 'warn'>;
  /** Read for each request: the token may change while the listener stays. */
  readonly settings: () => Pick<ServerSettings, 'admin' | 'limits' | 'listen' | 'chains'>;
  readonly env: Environment;
  /** Undefined: plain HTTP. */
  readonly tls?: TlsIdentity | undefined;
}

/** A state store as the admin API uses it. */
type ApiStore = Pick<OpenStore, 'store' | 'owns' | 'dir' | 'latest' | 'rolledBack'>;

/** The parts of the process that the admin API reads and writes. */
export interface ApiSources {
  /** Undefined: server.yaml has no `state`. */
  readonly state: ApiStore | undefined;
  /** Writes an object that settings are compiled from, once all processes serve with it. Undefined: there is no store. */
  readonly trials: Pick<ObjectTrials, 'check' | 'run'> | undefined;
  /** The folder of the settings. */
  readonly configs: string;
  /** The settings that serve, and the objects of their files. */
  readonly inForce: () => InForce;
  /** The last reload, or the start. */
  readonly lastReload: () => LastReload;
  readonly records: RecordSource;
  /** Undefined: this build explains nothing. Of all workers, where there are any. */
  readonly explains: ExplainSource | undefined;
  readonly explain: Pick<Explain, 'readQuestion' | 'textOf' | 'withoutTexts'> | undefined;
  /** Asks the processes that serve. */
  readonly ask: AskParts;
  /** Undefined: this build has no console. */
  readonly console: Console | undefined;
  /** Undefined: this build raises no alerts. */
  readonly alerts: AlertDesk | undefined;
  /** Undefined: this build captures nothing. */
  readonly captures: Captures | undefined;
  /** This gateway, as the others on its store see it. */
  readonly replica: () => BootRow | undefined;
  readonly clock: Clock;
}
