import type { GatewayError } from './errors.ts';

/**
 * A listener that is an object. It is its own handle: `listen` makes no function to remove it, which `onCancel` has to
 * make (0.3 KB per listener, measured). For code of the gateway; plugins use `onCancel`.
 */
export interface CancelListener {
  onCancelled(reason: GatewayError): void;
}

/**
 * A one-shot cancellation signal with a reason. Lighter than AbortController (no DOMException, no event objects),
 * because the request path creates one per request. `signal` gives a real AbortSignal to code that needs one.
 */
export class Cancellation {
  #reason: GatewayError | undefined;
  /** Nearly always the only listener. */
  #first: Listener | undefined;
  /** Removed ones are undefined. */
  #others: (Listener | undefined)[] | undefined;
  #controller: AbortController | undefined;

  get reason(): GatewayError | undefined {
    return this.#reason;
  }

  /** Calls `listener` on cancellation, immediately if it has already happened. Returns a function that removes the listener. */
  onCancel(listener: (reason: GatewayError) => void): () => void {
    this.listen(listener);
    return () => this.unlisten(listener);
  }

  /** Calls the listener on cancellation, immediately if it has already happened. */
  listen(listener: Listener): void {
    if (this.#reason) return this.#call(listener, this.#reason);
    // Listeners are called in the order in which they were added.
    if (!this.#first && !this.#others) this.#first = listener;
    else (this.#others ??= []).push(listener);
  }

  /** Leaves a hole, so that a running loop over the listeners skips none; holes at the end are dropped. */
  unlisten(listener: Listener): void {
    if (this.#first === listener) {
      this.#first = undefined;
      return;
    }
    const others = this.#others;
    const at = others?.lastIndexOf(listener) ?? -1;
    if (!others || at < 0) return;
    others[at] = undefined;
    while (others.length > 0 && others.at(-1) === undefined) others.pop();
    if (others.length === 0) this.#others = undefined;
  }

  /** Later calls are ignored; the first reason stays. */
  cancel(reason: GatewayError): void {
    if (this.#reason) return;
    this.#reason = reason;
    this.#controller?.abort(reason);
    const first = this.#first;
    this.#first = undefined;
    if (first) this.#call(first, reason);
    const others = this.#others;
    // A listener may remove others, which then are not called.
    if (others) for (let at = 0; at < others.length; at += 1) if (others[at]) this.#call(others[at]!, reason);
    this.#others = undefined;
  }

  #call(listener: Listener, reason: GatewayError): void {
    try {
      if (typeof listener === 'function') listener(reason);
      else listener.onCancelled(reason);
    } catch (error) {
      this.listenerFailed(error);
    }
  }

  /** Here the error reaches the code that cancels. The cancellation of a request reports it instead. */
  protected listenerFailed(error: unknown): void {
    throw error;
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

type Listener = ((reason: GatewayError) => void) | CancelListener;
