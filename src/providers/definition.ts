import type { CatalogEntry } from '../../schemas/types.generated.ts';
import type { Clock, Report } from '../plugin/index.ts';
import type { TokenStore } from '../state/tokens.ts';
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
}

/** A provider as the registry holds it, its entry type worn off. */
export interface Provider {
  readonly name: ProviderName;
  create(entry: CatalogEntry, setup: ProviderSetup): OpenableEntry | undefined;
  needsCallerToken(entry: CatalogEntry): boolean;
}

export function defineProvider<E extends CatalogEntry>(definition: ProviderDefinition<E>): Provider {
  // The catalog's schema has tied the entry's shape to its `provider`, and the registry looks up by that name.
  const { name, create, needsCallerToken = () => false } = definition;
  return { name, create, needsCallerToken };
}
