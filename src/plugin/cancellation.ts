import type { GatewayError } from './errors.ts';

/**
 * A one-shot cancellation signal with a reason. Lighter than AbortController (no DOMException, no event objects),
 * because the request path creates one per request. `signal` gives a real AbortSignal to code that needs one.
 */
export class Cancellation {
  #reason: GatewayError | undefined;
  #listeners: Set<(reason: GatewayError) => void> | undefined;
  #controller: AbortController | undefined;

  get reason(): GatewayError | undefined {
    return this.#reason;
  }

  /**
   * Calls `listener` on cancellation, immediately if it has already happened. Returns a function that removes the
   * listener.
   */
  onCancel(listener: (reason: GatewayError) => void): () => void {
    if (this.#reason) {
      listener(this.#reason);
      return () => {};
    }
    const listeners = (this.#listeners ??= new Set());
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** Later calls are ignored; the first reason stays. */
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
