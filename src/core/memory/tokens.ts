import { LRUCache } from 'lru-cache';
import type { Clock } from '../../plugin/index.ts';
import type { MintedToken, TokenStore } from './ports.ts';

type Mint = () => Promise<MintedToken>;

const MINUTE = 60_000;
/** google-auth-library refreshes at the same point (docs/protocols/vertex-ai.md#token-refresh). */
const REFRESH_EARLY_MS = 5 * MINUTE;
/** Closer to its expiry, a token might expire on the way to the upstream. */
const UNUSABLE_EARLY_MS = MINUTE;
/** A failing token endpoint is not called again for this time while callers wait for a token … */
const FAILURE_HOLD_MS = 1_000;
/** … and for this time while the old token is still valid. */
const REFRESH_HOLD_MS = 10_000;
/** A credential whose tokens are all refused causes one token call in this time, however many requests are refused. */
const REFUSAL_HOLD_MS = 10_000;

interface HeldToken {
  readonly value: string;
  readonly refreshAt: number;
  readonly unusableAt: number;
  readonly expiresAt: number;
}

interface Slot {
  token: HeldToken | undefined;
  pending: Promise<string> | undefined;
  failure: { readonly error: unknown; readonly until: number } | undefined;
  /** Until this time no further refused token is dropped. */
  keepUntil: number;
}

/**
 * Access tokens by a hash of their credential. Outlives settings, so that a reload causes no token calls. Each token is
 * fetched by one call however many requests wait for it, and renewed before it expires.
 */
export class MemoryTokenStore implements TokenStore {
  readonly #clock: Clock;
  readonly #slots: LRUCache<string, Slot>;

  constructor(clock: Clock, options: { readonly max?: number } = {}) {
    this.#clock = clock;
    this.#slots = new LRUCache({ max: options.max ?? 1_000 });
  }

  get(key: string, mint: Mint): string | Promise<string> {
    const slot = this.#slot(key);
    const token = slot.token;
    const now = this.#clock.now();
    if (token && now < token.refreshAt) return token.value;
    if (token && now < token.unusableAt) {
      // `mint` reports a failure itself; this caller has a valid token.
      if (this.#mayMint(slot, now)) this.#mint(slot, mint).catch(() => {});
      return token.value;
    }
    return this.#wait(slot, mint);
  }

  refuse(key: string, value: string): boolean {
    const slot = this.#slots.get(key);
    if (!slot) return false;
    // Another request was refused first: the new token is cached or being fetched.
    if (slot.token?.value !== value) return true;
    const now = this.#clock.now();
    if (now < slot.keepUntil) return false;
    slot.keepUntil = now + REFUSAL_HOLD_MS;
    slot.token = undefined;
    return true;
  }

  retain(keys: ReadonlySet<string>): void {
    for (const key of Array.from(this.#slots.keys())) if (!keys.has(key)) this.#slots.delete(key);
  }

  #slot(key: string): Slot {
    const known = this.#slots.get(key);
    if (known) return known;
    const slot: Slot = { token: undefined, pending: undefined, failure: undefined, keepUntil: -Infinity };
    this.#slots.set(key, slot);
    return slot;
  }

  #mayMint(slot: Slot, now: number): boolean {
    return !slot.pending && !(slot.failure && now < slot.failure.until);
  }

  async #wait(slot: Slot, mint: Mint): Promise<string> {
    try {
      if (slot.failure && this.#clock.now() < slot.failure.until) throw slot.failure.error;
      return await (slot.pending ?? this.#mint(slot, mint));
    } catch (error) {
      // In its last minute an old token is better than an error while the endpoint is down.
      if (slot.token && this.#clock.now() < slot.token.expiresAt) return slot.token.value;
      throw error;
    }
  }

  #mint(slot: Slot, mint: Mint): Promise<string> {
    const pending = this.#settle(slot, mint);
    slot.pending = pending;
    return pending;
  }

  async #settle(slot: Slot, mint: Mint): Promise<string> {
    try {
      // Through a promise, so that a mint that throws synchronously settles after `pending` is set.
      const minted = await Promise.resolve().then(mint);
      slot.token = hold(minted, this.#clock.now());
      slot.failure = undefined;
      return minted.value;
    } catch (error) {
      const now = this.#clock.now();
      const served = slot.token !== undefined && now < slot.token.unusableAt;
      slot.failure = { error, until: now + (served ? REFRESH_HOLD_MS : FAILURE_HOLD_MS) };
      throw error;
    } finally {
      slot.pending = undefined;
    }
  }
}

/** The margins are smaller for tokens that live for minutes only, which would otherwise be stale from the start. */
function hold({ value, expiresInMs }: MintedToken, now: number): HeldToken {
  const expiresAt = now + expiresInMs;
  return {
    value,
    refreshAt: expiresAt - Math.min(REFRESH_EARLY_MS, expiresInMs / 2),
    unusableAt: expiresAt - Math.min(UNUSABLE_EARLY_MS, expiresInMs / 10),
    expiresAt,
  };
}
