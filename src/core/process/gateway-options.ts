import type { DestinationStream, Logger } from 'pino';
import type { ModelNames } from '../catalog/model-labels.ts';
import type { Clock } from '../../plugin/index.ts';
import type { SettingsFiles } from '../settings/source/files.ts';
import type { WatchFolder } from '../settings/source/watch.ts';
import type { Lookup } from '../upstream/index.ts';
import type { HeaderHint } from '../http/gateway/request-path.ts';
import type { SharedByPrimary } from '../ports/shared-by-primary.ts';
import type { FaultHandler } from './process-faults.ts';
import type { Watch } from '../compose/chain-builder.ts';
import type { StoreDriver } from '../ports/store-driver.ts';
import type { Metrics } from '../record/metrics/registry.ts';

export interface GatewayOptions {
  /** Folder of the settings. */
  readonly configs: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Injected by tests; the system's otherwise. */
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly lookup?: Lookup;
  readonly logTo?: DestinationStream;
  readonly watchFolder?: WatchFolder;
  /** Source of the settings files and of the files they name. Default: the disk. */
  readonly files?: SettingsFiles;
  /** Hooks around plugins and their capabilities. Injected by tests. */
  readonly watch?: Watch;
  /** Replaces the port of the settings. */
  readonly port?: number | undefined;
  /** Stores and sinks that the primary has for this worker. */
  readonly shared?: SharedByPrimary;
  /** Gets the hint at headers without effect, which the primary logs. Default: this process logs it. */
  readonly onHint?: (hint: HeaderHint) => void;
  /** Opens the state store. Injected by tests; the one of the settings otherwise. */
  readonly openStore?: OpenStoreTools['open'];
  /** Decides which model names are labels of metrics. Default: this process decides. */
  readonly models?: ModelNames;
  /** Gets the handler of unhandled errors: before plugins are loaded, and another before the listeners accept requests. */
  readonly onFaults?: ((handler: FaultHandler) => void) | undefined;
}

export interface OpenStoreTools {
  /** Injected by tests. Default: opens the store of the settings. */
  readonly open?: StoreDriver['open'] | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}
