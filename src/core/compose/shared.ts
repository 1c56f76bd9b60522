import type { Logger } from 'pino';
import type { ModelNames } from '../catalog/model-labels.ts';
import type { PluginRegistry } from '../http/chain/registry.ts';
import { type Clock, type Recorder, type Turns } from '../../plugin/index.ts';
import type { StoredObjects } from '../settings/source/stored-objects.ts';
import type { BudgetState } from '../../addons/budgets/reserve/budget-state.ts';
import type { ServerSettings } from '../settings/compile/server-settings.ts';
import type { FilesState } from '../../addons/files/files-state.ts';
import type { HealthStore, ReplyStores, ResponseStore, TokenStore } from '../memory/ports.ts';
import type { Upstream } from '../upstream/types.ts';
import type { OnConfig } from './config-directory.ts';
import type { ReportPluginFailure } from '../http/gateway/plugin-faults.ts';
import type { PluginReports } from './plugin-metrics.ts';
import type { RateLimitsSetup } from '../../addons/budgets/limits/rate-limits.ts';
import type { Watch } from './chain-builder.ts';
import type { Tenants } from '../settings/compile/tenants.ts';
import type { InFlight } from '../http/gateway/admission/in-flight.ts';
import type { OpenSockets } from '../../addons/responses/websockets/open-sockets.ts';

/** State that outlives snapshots and is shared by them. */
export interface Shared extends Omit<RateLimitsSetup, 'clock'> {
  readonly clock: Clock;
  /** The environment of the process, for catalog entries that read it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
  readonly random: (plugin: string) => number;
  readonly upstream: Upstream;
  readonly tokens: TokenStore;
  readonly replies: ReplyStores;
  readonly health: HealthStore;
  /** Responses that are kept for later requests. */
  readonly responses: ResponseStore;
  /** The state of budgets. Undefined in a dry run: each snapshot then counts from zero. */
  readonly budgets?: BudgetState | undefined;
  readonly inFlight: InFlight;
  readonly sockets: OpenSockets;
  /** Undefined in a dry run: fakes take the place of stored files. */
  readonly files?: FilesState | undefined;
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
  /** Creates the listener that gets the config of every request. Undefined if these settings need none. */
  readonly onConfig?: ((server: ServerSettings) => OnConfig | undefined) | undefined;
  /** The objects of the state store as they are now. Undefined: there is none. */
  readonly stored?: (() => StoredObjects | undefined) | undefined;
  /** Called when a request uses a key of the state store. */
  readonly keyUsed?: ((keyId: string, remoteAddress: string, now: number) => void) | undefined;
  /** The tenants of the settings that serve now. */
  readonly tenantsBefore?: (() => Tenants | undefined) | undefined;
  /** Called when the snapshot is closed. */
  readonly onClose?: (() => void) | undefined;
}
