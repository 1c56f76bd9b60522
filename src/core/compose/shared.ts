import type { Logger } from 'pino';
import type { ModelNames } from '../catalog/model-labels.ts';
import type { PluginRegistry } from '../http/chain/registry.ts';
import type { Clock } from '../../plugin/index.ts';
import type { Recorder, Turns } from '../kernel/index.ts';
import type { StoredObjects } from '../settings/source/stored-objects.ts';
import type { RecordedFiles } from '../settings/source/recorded-files.ts';
import type { HealthStore, ReplyStores, TokenStore } from '../memory/ports.ts';
import type { Upstream } from '../upstream/types.ts';
import type { ReportPluginFailure } from '../http/gateway/plugin-faults.ts';
import type { PluginReports } from './plugin-metrics.ts';
import type { Watch } from './chain-builder.ts';
import type { Tenants } from '../settings/compile/tenants.ts';
import type { InFlight } from '../http/gateway/admission/in-flight.ts';

/** State that outlives snapshots and is shared by them. */
export interface SharedTools {
  readonly clock: Clock;
  /** The environment of the process, for catalog entries that read it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
  readonly random: (plugin: string) => number;
  readonly upstream: Upstream;
  readonly tokens: TokenStore;
  readonly replies: ReplyStores;
  readonly health: HealthStore;
  readonly inFlight: InFlight;
  /** Default: no turns; large bodies do not wait. */
  readonly turns?: Turns | undefined;
  /** Called when an access token was fetched for a catalog entry, or could not be. */
  readonly tokenFetched: (slug: string, error: unknown) => void;
  readonly recorder: Recorder;
  readonly labels: ModelNames;
  readonly registry: PluginRegistry;
  readonly pluginFault: ReportPluginFailure;
  /** Default: no plugin is measured. */
  readonly pluginReports?: PluginReports | undefined;
  readonly watch?: Watch | undefined;
  /** The files that the settings were read from. Undefined in a dry run. */
  readonly files?: RecordedFiles | undefined;
  /** The objects of the state store as they are now. Undefined: there is none. */
  readonly stored?: (() => StoredObjects | undefined) | undefined;
  /** Called when a request uses a key of the state store. */
  readonly keyUsed?: ((keyId: string, remoteAddress: string, now: number) => void) | undefined;
  /** The tenants of the settings that serve now. */
  readonly tenantsBefore?: (() => Tenants | undefined) | undefined;
}
