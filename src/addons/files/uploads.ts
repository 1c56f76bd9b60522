import { GatewayError } from '../../plugin/index.ts';

/** The client's pace decides when an upload ends, so this time is a guess. */
const RETRY_AFTER_MS = 5000;

/**
 * The uploads of this process under way. An upload holds no bytes in memory, but a place among the requests in flight for as long as
 * its client takes, so their number has a limit of its own. Outlives snapshots.
 */
export class Uploads {
  readonly #byOwner = new Map<string, number>();
  #all = 0;

  /** Returns the function that ends the upload. Throws GatewayError `busy`. */
  begin(owner: string, limit: number): () => void {
    const own = this.#byOwner.get(owner) ?? 0;
    const share = Math.max(1, Math.floor(limit / 4));
    // While few are under way, one key may have more than its share.
    const isCrowded = this.#all >= Math.floor(limit / 2);
    if (this.#all >= limit || (isCrowded && own >= share))
      throw new GatewayError(
        'busy',
        `The gateway already receives ${this.#all} files, ${own} of them with this key (files.uploads: ${limit}).`,
        { retryAfterMs: RETRY_AFTER_MS },
      );
    this.#all += 1;
    this.#byOwner.set(owner, own + 1);
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.#all -= 1;
      const left = this.#byOwner.get(owner)! - 1;
      if (left > 0) this.#byOwner.set(owner, left);
      else this.#byOwner.delete(owner);
    };
  }
}
