import type { CatalogEntry } from '../../schemas/types.generated.ts';
import type { Clock, ModelTask, Report } from '../plugin/index.ts';
import type { TokenStore } from '../state/memory/tokens.ts';
import type { Upstream } from '../upstream/types.ts';
import type { ProviderEntry, ProviderName } from './provider.ts';

/** What a provider gets to make an entry from its settings. */
export interface ProviderSetup {
  /** The guarded way out, for token calls. */
  readonly upstreamExchange: Upstream['exchange'];
  readonly clock: Clock;
  readonly tokens: TokenStore;
  /** The process's environment, where an entry's settings leave something to it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Token endpoints the operator allows besides Google's. */
  readonly tokenUris: ReadonlySet<string>;
  /** Told after every call of a token endpoint, with the error where it failed. */
  readonly tokenFetched: (slug: string, error: unknown) => void;
  /** Paths are relative to the entry. */
  readonly report: Report;
}

/** An entry that needs something running before its first request. */
export interface OpenableEntry extends ProviderEntry {
  /**
   * Called when the snapshot goes live; `validate` and `explain` never call it. What makes the entry unusable is reported
   * at its place, as in `create`, and thrown.
   */
  open?(): Promise<void>;
}

export interface ProviderDefinition<E extends CatalogEntry> {
  readonly name: E['provider'];
  /** Undefined when something was reported that makes the entry unusable. Does no I/O. */
  create(entry: E, setup: ProviderSetup): OpenableEntry | undefined;
  /** The entry has no credentials: each request must bring its caller's. Without it, all entries have their own. */
  needsCallerToken?(entry: E): boolean;
  /**
   * What can be seen, before any request, of parameters that a gateway config sends to the entry. `model` is without `@slug/`;
   * paths are relative to the parameters.
   */
  checkParams?(entry: E, params: Params, report: Report): void;
  /** What the model of that name, without `@slug/`, can be asked for, as far as names tell; undefined: anything. */
  tasksOf?(entry: E, model: string): ReadonlySet<ModelTask> | undefined;
}

type Params = Readonly<Record<string, unknown>>;

/** A provider as the registry holds it, its entry type worn off. */
export interface Provider {
  readonly name: ProviderName;
  create(entry: CatalogEntry, setup: ProviderSetup): OpenableEntry | undefined;
  needsCallerToken(entry: CatalogEntry): boolean;
  checkParams(entry: CatalogEntry, params: Params, report: Report): void;
  tasksOf(entry: CatalogEntry, model: string): ReadonlySet<ModelTask> | undefined;
}

export function defineProvider<E extends CatalogEntry>(definition: ProviderDefinition<E>): Provider {
  // The catalog's schema has tied the entry's shape to its `provider`, and the registry looks up by that name.
  const {
    name,
    create,
    needsCallerToken = () => false,
    checkParams = () => {},
    tasksOf = () => undefined,
  } = definition;
  return { name, create, needsCallerToken, checkParams, tasksOf };
}
