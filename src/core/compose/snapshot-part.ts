import type {
  Capabilities,
  GatewayContext,
  MediaInliner,
  Operation,
  Sender,
  TargetResolver,
  Translator,
  Recorder,
  Turns,
} from '../kernel/index.ts';
import type { Taps } from '../kernel/taps.ts';
import type { GatewayError, PluginLevel, Reply, Clock } from '../../plugin/index.ts';
import type { RequestPrices } from '../record/costs.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { ServerSettings } from '../settings/compile/server-settings.ts';
import type { LoadResult, Settings } from '../settings/read/load.ts';
import type { RecordedFiles } from '../settings/source/recorded-files.ts';
import type { OnConfig } from './config-directory.ts';
import type { Tenancy } from './tenancy.ts';
import type { PathSettings } from '../http/gateway/path-settings.ts';
import type { Logger } from 'pino';
import type { ModelNames } from '../catalog/model-labels.ts';
import type { PluginRegistry } from '../http/chain/registry.ts';
import type { StoredObjects } from '../settings/source/stored-objects.ts';
import type { HealthStore, ReplyStores, TokenStore } from '../memory/ports.ts';
import type { Upstream } from '../upstream/types.ts';
import type { ReportPluginFailure } from '../http/gateway/plugin-faults.ts';
import type { HostState } from '../host/services.ts';
import type { PluginReports } from '../http/chain/instance.ts';
import type { Watch } from './chain-builder.ts';
import type { Tenants } from '../settings/compile/tenants.ts';
import type { InFlight } from '../http/gateway/admission/in-flight.ts';

/** From these an add-on composes its part of a snapshot. */
interface PartInputs {
  readonly loaded: LoadResult;
  readonly settings: Settings;
  readonly server: ServerSettings;
  readonly catalog: Catalog;
  readonly tenancy: Tenancy;
  /** The files that the settings were read from. Undefined in a dry run. */
  readonly files: RecordedFiles | undefined;
  readonly shared: Omit<Shared, 'parts'>;
}

/** The tools of the attempt chain, for capabilities that call upstreams themselves. */
interface AttemptTools {
  readonly targets: TargetResolver;
  readonly translate: Translator;
  readonly send: Sender;
}

/** A plugin of a default chain, in front of another plugin of it. A chain that the settings name stays as it is. */
export interface DefaultPlugin {
  readonly level: PluginLevel;
  readonly name: string;
  readonly before: string;
  /** No list of a config or a target drops it. */
  readonly always?: boolean;
}

/** Answers a request once its caller is known and admitted. Throws GatewayError. */
export type AnswerRequest = (ctx: GatewayContext) => Reply;

/** The part of an add-on in one version of the settings. */
export interface SnapshotPart {
  /** Capabilities of plugins by the level of their chain. */
  readonly granted?: Readonly<Partial<Record<PluginLevel, Partial<Capabilities>>>>;
  /** Further capabilities of the attempt chain. */
  grantToAttempts?(tools: AttemptTools): Partial<Capabilities>;
  readonly plugins?: readonly DefaultPlugin[];
  /** Keys or teams have budgets, or may get some: chains of attempts need the plugin `budget`. */
  readonly hasBudgets?: boolean;
  /** Around the sender of attempts, and around those of the add-ons before. */
  readonly sender?: ((sender: Sender) => Sender) | undefined;
  /** Counts a request without a valid key. Returns its refusal in place of its own error. At most one add-on has it. */
  readonly refuseAddress?: ((address: string) => GatewayError | undefined) | undefined;
  /** At most one add-on has it. */
  readonly costHeader?: PathSettings['costHeader'];
  /** The prices in force. At most one add-on has it. */
  readonly prices?: () => RequestPrices;
  /** Operations that no plugin answers. */
  readonly answers?: ReadonlyMap<Operation, AnswerRequest>;
  /** Puts the stored files that a request names into the body of an attempt. At most one add-on has it. */
  readonly placeFiles?: MediaInliner['inline'] | undefined;
  /** Called when a request's config is known, before its chain runs. At most one add-on has it. */
  readonly onConfig?: OnConfig | undefined;
  /** Called when the snapshot goes live. */
  use?(): void;
  /** Called when the snapshot is closed. */
  close?(): void;
}

/** An add-on as snapshots see it. */
export interface SnapshotSource {
  /** Composes the part for settings that are being compiled. Does no I/O. */
  compose?(inputs: PartInputs): SnapshotPart;
}

/** State that outlives snapshots and is shared by them. */
export interface Shared {
  readonly parts: readonly SnapshotSource[];
  readonly clock: Clock;
  /** The environment of the process, for catalog entries that read it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
  /** These settings serve no client: they are checked, explained or tested. */
  readonly dry?: boolean;
  readonly random: (plugin: string) => number;
  readonly upstream: Upstream;
  readonly tokens: TokenStore;
  readonly replies: ReplyStores;
  readonly health: HealthStore;
  readonly inFlight: InFlight;
  /** Undefined in a dry run. */
  readonly taps?: Taps | undefined;
  /** Default: no turns; large bodies do not wait. */
  readonly turns?: Turns | undefined;
  /** Called when an access token was fetched for a catalog entry, or could not be. */
  readonly tokenFetched: (slug: string, error: unknown) => void;
  readonly recorder: Recorder;
  readonly labels: ModelNames;
  readonly registry: PluginRegistry;
  readonly pluginFault: ReportPluginFailure;
  /** State and counts of the services of plugins. Undefined in a dry run. */
  readonly host?: HostState | undefined;
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
