import type { Clock } from '../../../plugin/index.ts';
import type { KeyUse } from '../../../core/ports/entities.ts';

/** The store gets one write a minute, whatever the number of requests. */
const EVERY_MS = 60_000;
/** Keys of one write, and keys whose use is not written yet. */
const MOST = 10_000;
/** Addresses have at most 45 characters; a zone of a link-local one may be longer. */
const MOST_ADDRESS = 64;

/** The last use of each key of the store since the last write, in this process. */
export class KeyUses {
  readonly #clock: Clock;
  readonly #write: (uses: readonly KeyUse[]) => Promise<void>;
  #uses = new Map<string, { at: number; address: string }>();
  #stopTimer: (() => void) | undefined;

  /** @param write rejects while the store does not answer */
  constructor(clock: Clock, write: (uses: readonly KeyUse[]) => Promise<void>) {
    this.#clock = clock;
    this.#write = write;
  }

  used(keyId: string, address: string, at: number): void {
    const use = this.#uses.get(keyId);
    if (use) {
      use.at = at;
      use.address = address;
      return;
    }
    if (this.#uses.size >= MOST) return;
    this.#uses.set(keyId, { at, address });
    this.#stopTimer ??= this.#clock.after(EVERY_MS, () => void this.flush());
  }

  /** Never rejects: the next write takes the uses that this one could not write. */
  async flush(): Promise<void> {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    const uses = this.#uses;
    this.#uses = new Map();
    if (uses.size === 0) return;
    const written = [...uses].map(([keyId, { at, address }]) => ({
      keyId,
      at,
      address: address.slice(0, MOST_ADDRESS),
    }));
    try {
      await this.#write(written);
    } catch {
      for (const { keyId, at, address } of written) if (!this.#uses.has(keyId)) this.used(keyId, address, at);
    }
  }
}
