import { GatewayError, type Cancellation } from '../../plugin/index.ts';

/** Calls that are under way at the same time. */
const MAX_OPEN = 100;
const RETRY_AFTER_MS = 1000;

/** Calls under way, by the digest of their credential: requests with the same credential wait for one call. */
export class JoinedCalls<T> {
  readonly #open = new Map<string, Promise<T>>();

  /** The result of the call. A request that leaves does not end the call, for which others may wait. */
  async ask(digest: string, call: () => Promise<T>, cancellation: Cancellation): Promise<T> {
    const open = this.#open.get(digest) ?? this.#begin(digest, call);
    const left = Promise.withResolvers<never>();
    const release = cancellation.onCancel(left.reject);
    try {
      return await Promise.race([open, left.promise]);
    } finally {
      release();
    }
  }

  #begin(digest: string, call: () => Promise<T>): Promise<T> {
    if (this.#open.size >= MAX_OPEN)
      throw new GatewayError('busy', `${MAX_OPEN} other credentials wait for the service that knows the callers.`, {
        retryAfterMs: RETRY_AFTER_MS,
      });
    const begun = call().finally(() => this.#open.delete(digest));
    // All requests that wait for it may have left.
    begun.catch(() => {});
    this.#open.set(digest, begun);
    return begun;
  }
}
