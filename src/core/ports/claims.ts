/**
 * Names that one holder has for a time, by the store's clock: the tasks that one gateway does for all, calls under way, sessions, the values
 * of plugins.
 *
 * Every method rejects with `StateFailure`: `unavailable`, `invalid`, `full`.
 */
export interface Claims {
  /**
   * Claims a name that no process has, whose time has ended, or that the holder has already; then its text and its time are the new ones.
   * Returns the claim that is in force now, perhaps that of another holder.
   */
  take(wish: ClaimWish): Promise<Claim>;
  /** Undefined: no process has the name, or its time has ended. */
  find(name: string): Promise<Claim | undefined>;
  /** Frees a name. @param holder only if it has the name; undefined: any holder */
  end(name: string, holder?: string): Promise<void>;
}

/** Names of the values of plugins begin with it. */
export const OF_PLUGINS = 'plugin ';

/** Most claims of a store before another one is taken; those whose time has ended make room. Plugins leave half of it to the gateway itself. */
export const mostClaims = (name: string): number => (name.startsWith(OF_PLUGINS) ? 10_000 : 20_000);

/** Longest text of a claim. */
export const MAX_CLAIM_TEXT = 1_000;

export interface ClaimWish {
  /** 1 to 128 characters. */
  readonly name: string;
  /** 1 to 128 characters. */
  readonly holder: string;
  /** At most `MAX_CLAIM_TEXT` characters, without secrets. */
  readonly text?: string;
  readonly ms: number;
}

export interface Claim {
  readonly holder: string;
  readonly text: string;
  /** Milliseconds since 1970, of the store. */
  readonly until: number;
}
