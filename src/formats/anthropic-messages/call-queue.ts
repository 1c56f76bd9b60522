import type { JsonObject } from '../conversation.ts';
import { isObject, parseJson } from './json.ts';

/** A call that waits for its block. */
export interface WaitingCall {
  readonly call: number;
  readonly custom: boolean;
  block: JsonObject;
  arguments: string;
}

/**
 * One block is open at a time (wire.md B6), but OpenAI upstreams may interleave the fragments of parallel calls: the first
 * streams, the others wait here, each for its own block (D13 step 4).
 */
export class CallQueue {
  readonly #waiting: WaitingCall[] = [];

  get last(): WaitingCall | undefined {
    return this.#waiting.at(-1);
  }

  add(call: WaitingCall): void {
    this.#waiting.push(call);
  }

  /** False when the call does not wait here. */
  feed(call: number, text: string): boolean {
    const waiting = this.#waiting.find((candidate) => candidate.call === call);
    if (!waiting) return false;
    waiting.arguments += text;
    return true;
  }

  next(): WaitingCall | undefined {
    return this.#waiting.shift();
  }
}

/** A whole object cannot grow any more, so the call's block may be closed. The last character keeps most parsing away. */
export function isWhole(json: string): boolean {
  return json.trimEnd().endsWith('}') && isObject(parseJson(json));
}
