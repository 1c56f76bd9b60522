import type { CatalogEntry } from '../../../schemas/types.generated.ts';
import type { Clock, ModelTask } from '../../plugin/index.ts';
import type { Report } from '../kernel/report.ts';
import type { TokenStore } from '../memory/ports.ts';
import type { Upstream } from '../upstream/types.ts';
import type { Location, ProviderEntry } from './provider.ts';

export interface ProviderSetup {
  /** Calls through the egress guard, for token endpoints. */
  readonly upstreamExchange: Upstream['exchange'];
  readonly clock: Clock;
  readonly tokens: TokenStore;
  /** The process's environment, for entries whose settings refer to it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Token endpoints that the operator allows besides Google's. */
  readonly tokenUris: ReadonlySet<string>;
  /** Called after every call of a token endpoint, with the error if it failed. */
  readonly tokenFetched: (slug: string, error: unknown) => void;
  /** Paths are relative to the entry. */
  readonly report: Report;
}

/** An entry with a service to start before its first request. */
export interface OpenableEntry extends ProviderEntry {
  /** When the snapshot goes live, not in `validate`. Reports what makes the entry unusable, and throws. */
  open?(): Promise<void>;
}

interface ProviderDefinition<E extends CatalogEntry> {
  readonly name: E['provider'];
  /** Undefined when it reported a problem that makes the entry unusable. Does no I/O. */
  create(entry: E, setup: ProviderSetup): OpenableEntry | undefined;
  /** True for an entry without credentials, where each request must carry its caller's token. Default: false for all entries. */
  needsCallerToken?(entry: E): boolean;
  /** The parameters that a gateway config sends to the entry. `model` has no `@slug/`; paths are relative to them. */
  checkParams?(entry: E, params: Readonly<Record<string, unknown>>, report: Report): void;
  /** The tasks of a model by its name, without `@slug/`; undefined where the name does not tell. */
  tasksOf?(entry: E, model: string): ReadonlySet<ModelTask> | undefined;
  /** The APIs in which requests for the model are sent. Undefined where the settings do not determine them. */
  speaks?(entry: E, model: string): readonly Spoken[] | undefined;
}

export type Spoken = Pick<Location, 'format' | 'host' | 'extensions'>;

/** A provider in the registry, without its entry type. */
export type Provider = Required<ProviderDefinition<CatalogEntry>>;

export function defineProvider<E extends CatalogEntry>(definition: ProviderDefinition<E>): Provider {
  // Safe without the entry type: the schema ties the entry's shape to its `provider`, and the registry looks up by that name.
  return {
    needsCallerToken: () => false,
    checkParams: () => {},
    tasksOf: () => undefined,
    speaks: () => undefined,
    ...definition,
  };
}
