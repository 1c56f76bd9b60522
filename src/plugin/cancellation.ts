import type { GatewayError } from './errors.ts';

/**
 * A one-shot cancellation signal with a reason. Lighter than AbortController (no DOMException, no event objects),
 * because the request path creates one per request. `signal` gives a real AbortSignal to code that needs one.
 */
export class Cancellation {
  #reason: GatewayError | undefined;
  /** Removed ones are undefined. A request adds about three listeners, for which a Set is too dear. */
  #listeners: (Listener | undefined)[] | undefined;
  #controller: AbortController | undefined;

  get reason(): GatewayError | undefined {
    return this.#reason;
  }

  /**
   * Calls `listener` on cancellation, immediately if it has already happened. Returns a function that removes the
   * listener.
   */
  onCancel(listener: Listener): () => void {
    if (this.#reason) {
      listener(this.#reason);
      return () => {};
    }
    const listeners = (this.#listeners ??= []);
    listeners.push(listener);
    return () => remove(listeners, listener);
  }

  /** Later calls are ignored; the first reason stays. */
  cancel(reason: GatewayError): void {
    if (this.#reason) return;
    this.#reason = reason;
    const listeners = this.#listeners;
    this.#listeners = undefined;
    this.#controller?.abort(reason);
    // A listener may remove others, which then are not called.
    if (listeners) for (let at = 0; at < listeners.length; at += 1) listeners[at]?.(reason);
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

type Listener = (reason: GatewayError) => void;

/** Leaves a hole, so that a running loop over the listeners skips none; holes at the end are dropped. */
function remove(listeners: (Listener | undefined)[], listener: Listener): void {
  const at = listeners.lastIndexOf(listener);
  if (at < 0) return;
  listeners[at] = undefined;
  while (listeners.length > 0 && listeners.at(-1) === undefined) listeners.pop();
}
