import type { JsonObject } from '../conversation.ts';
import { Queue } from '../streams/queue.ts';
import { isObject } from '../json/object.ts';
import { parseJson } from '../json/read.ts';
import { QUOTE, BACKSLASH, OPEN_OBJECT, CLOSE_OBJECT } from '../json/scan.ts';

/** A call that waits for its block. */
export interface WaitingCall {
  readonly call: number;
  readonly custom: boolean;
  block: JsonObject;
  arguments: string;
}

/**
 * One block is open at a time (docs/protocols/anthropic-messages.md#block-order), but OpenAI upstreams may interleave the pieces of
 * parallel calls. The first call streams; the others wait here, each for its own block (docs/protocols/messages-route.md#parallel-calls).
 */
export class CallQueue {
  readonly #waiting = new Queue<WaitingCall>();
  readonly #byCall = new Map<number, WaitingCall>();

  get last(): WaitingCall | undefined {
    return this.#waiting.last();
  }

  add(call: WaitingCall): void {
    this.#waiting.push(call);
    this.#byCall.set(call.call, call);
  }

  /** False when the call is not in the queue. */
  feed(call: number, text: string): boolean {
    const waiting = this.#byCall.get(call);
    if (!waiting) return false;
    waiting.arguments += text;
    return true;
  }

  next(): WaitingCall | undefined {
    const next = this.#waiting.shift();
    if (next) this.#byCall.delete(next.call);
    return next;
  }
}

/**
 * Arguments of a call, which arrive in fragments. A complete object cannot grow, so its block may be closed. Each
 * character is scanned once, and only when `whole` is read: parsing the text with every fragment would cost the square
 * of its length.
 */
export class GrowingArguments {
  #text = '';
  /** The text that `whole` has not scanned yet. */
  #unseen = '';
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** The outermost object has closed: only white space may follow. */
  #closed = false;
  #parsed: boolean | undefined;

  get text(): string {
    return this.#text;
  }

  add(text: string): void {
    this.#text += text;
    this.#unseen += text;
  }

  get whole(): boolean {
    const unseen = this.#unseen;
    this.#unseen = '';
    // Anything but white space after the object makes the text invalid JSON.
    if (this.#closed && unseen.trim() !== '') this.#parsed = false;
    if (!this.#closed) this.#scan(unseen);
    return this.#closed && (this.#parsed ??= isObject(parseJson(this.#text)));
  }

  #scan(text: string): void {
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (this.#escaped) this.#escaped = false;
      else if (this.#inString) {
        if (code === BACKSLASH) this.#escaped = true;
        else if (code === QUOTE) this.#inString = false;
      } else if (code === QUOTE) this.#inString = true;
      else if (code === OPEN_OBJECT) this.#depth += 1;
      else if (code === CLOSE_OBJECT && --this.#depth <= 0) {
        this.#closed = true;
        return;
      }
    }
  }
}
