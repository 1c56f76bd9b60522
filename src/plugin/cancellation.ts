import type { GatewayError } from './errors.ts';

/**
 * Says once that work is no longer wanted, and why. Lighter than AbortController (no DOMException, no event objects), which
 * matters on a path where every request has one; `signal` gives a real AbortSignal to code that needs it.
 */
export class Cancellation {
  #reason: GatewayError | undefined;
  #listeners: Set<(reason: GatewayError) => void> | undefined;
  #controller: AbortController | undefined;

  get reason(): GatewayError | undefined {
    return this.#reason;
  }

  /** Calls `listener` on cancellation (at once if it has happened); returns how to stop listening. */
  onCancel(listener: (reason: GatewayError) => void): () => void {
    if (this.#reason) {
      listener(this.#reason);
      return () => {};
    }
    const listeners = (this.#listeners ??= new Set());
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** Only the first call counts. */
  cancel(reason: GatewayError): void {
    if (this.#reason) return;
    this.#reason = reason;
    const listeners = this.#listeners;
    this.#listeners = undefined;
    this.#controller?.abort(reason);
    if (listeners) for (const listener of listeners) listener(reason);
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#reason) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  throwIfCancelled(): void {
    if (this.#reason) throw this.#reason;
  }
}
