import type { Boot } from './counters.ts';
import type { Version } from './entities.ts';

/**
 * The gateways that use a store at the same time, by the store's clock. With workers, the primary has the row of its gateway.
 *
 * Every method rejects with `StateFailure`.
 */
export interface Boots {
  /** Writes that a gateway lives, and what it shows of itself. Its row counts for `LEASE_MS`. */
  seen(boot: Boot, shown: ShownBoot): Promise<LiveBoots>;
  /** The rows that count, from the oldest start. At most `MAX_BOOTS`. */
  live(): Promise<readonly BootRow[]>;
  /** The gateway ends: its row counts no more. */
  ended(boot: Boot['id']): Promise<void>;
}

/** Most rows of one answer of `Boots.live`. */
export const MAX_BOOTS = 2_000;
/** Longest text of a refused reload. */
export const MAX_REFUSED = 1_000;

export interface ShownBoot {
  /** Of the settings in force. */
  readonly configHash: string;
  /** The version of the store that the gateway serves with. */
  readonly version: Version;
  /** The last reload, if it was refused: the first mistake, and its time in milliseconds since 1970. */
  readonly refused: { readonly at: number; readonly text: string } | undefined;
}

export interface LiveBoots {
  readonly gateways: number;
  /** Different hashes of their settings. */
  readonly hashes: number;
}

export interface BootRow extends Omit<Boot, 'version' | 'configHash'>, ShownBoot {
  readonly release: string;
  /** Milliseconds since 1970, of the store. */
  readonly seenAt: number;
}
