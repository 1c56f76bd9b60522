import { GatewayError, type Cancellation } from '../../plugin/index.ts';

/** Calls under way at the same time. Random credentials leave half of them to those that the service has known before. */
const MAX_OPEN = 100;
const MAX_NEW = 50;
const RETRY_AFTER_MS = 1000;

interface Asking {
  readonly cancellation: Cancellation;
  /** The service has known the credential before. */
  readonly isMet: boolean;
}

/** Calls under way, by the digest of their credential: requests with the same credential wait for one call. */
export class JoinedCalls<T> {
  readonly #open = new Map<string, Promise<T>>();

  /** The result of the call. A request that leaves does not end the call, for which others may wait. */
  async ask(digest: string, call: () => Promise<T>, { cancellation, isMet }: Asking): Promise<T> {
    const open = this.#open.get(digest) ?? this.#begin(digest, call, isMet ? MAX_OPEN : MAX_NEW);
    const left = Promise.withResolvers<never>();
    const release = cancellation.onCancel(left.reject);
    try {
      return await Promise.race([open, left.promise]);
    } finally {
      release();
    }
  }

  #begin(digest: string, call: () => Promise<T>, most: number): Promise<T> {
    if (this.#open.size >= most)
      throw new GatewayError('busy', `${most} other credentials wait for the service that knows the callers.`, {
        retryAfterMs: RETRY_AFTER_MS,
      });
    const begun = call().finally(() => this.#open.delete(digest));
    // All requests that wait for it may have left.
    begun.catch(() => {});
    this.#open.set(digest, begun);
    return begun;
  }
}
