/**
 * Server-sent events on bytes. Cutting and reading are apart: a pass-through only cuts, a decoder reads what was cut.
 * Tolerates any split of the bytes, LF and CRLF (all Gemini recordings use CRLF, all Anthropic ones LF), comments,
 * several `data:` lines and a byte order mark (WHATWG HTML, section 9.2).
 */

const LF = 0x0a;
const CR = 0x0d;

/** Largest event held while waiting for its end. Inline images arrive as one event; ops.md 4.3 sets 16 MiB. */
export const MAX_EVENT_BYTES = 16 * 1024 * 1024;

export class EventTooLarge extends Error {
  override readonly name = 'EventTooLarge';
}

/**
 * Cuts a byte stream at event ends (blank lines). Only the new bytes are searched, and they are copied together once per
 * whole event, so that a large event in small pieces does not cost its square.
 */
export class SseCutter {
  #pieces: Buffer[] = [];
  #held = 0;
  /** The last two bytes held: a blank line can be split between reads. */
  #last = 0;
  #beforeLast = 0;

  /** Bytes up to the last event end seen, or undefined. */
  push(bytes: Buffer): Buffer | undefined {
    const cut = this.#lastEnd(bytes);
    if (cut < 0) {
      this.#hold(bytes);
      return undefined;
    }
    const head = bytes.subarray(0, cut);
    const whole = this.#held === 0 ? head : Buffer.concat([...this.#pieces, head]);
    this.#pieces = [];
    this.#held = 0;
    this.#last = this.#beforeLast = 0;
    if (cut < bytes.length) this.#hold(bytes.subarray(cut));
    return whole;
  }

  /** What is held back: an event whose blank line never came. */
  rest(): Buffer {
    const rest = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#held = 0;
    this.#last = this.#beforeLast = 0;
    return rest;
  }

  #hold(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#held += bytes.length;
    if (this.#held > MAX_EVENT_BYTES) throw new EventTooLarge(`an event of the reply exceeds ${MAX_EVENT_BYTES} bytes`);
    this.#pieces.push(bytes);
    this.#beforeLast = bytes.length > 1 ? bytes[bytes.length - 2]! : this.#last;
    this.#last = bytes[bytes.length - 1]!;
  }

  /** Index just past the last blank line in `bytes`, counting what is held before it; -1 when there is none. */
  #lastEnd(bytes: Buffer): number {
    for (let at = bytes.lastIndexOf(LF); at >= 0; at = at > 0 ? bytes.lastIndexOf(LF, at - 1) : -1) {
      const previous = this.#at(bytes, at - 1);
      if (previous === LF || (previous === CR && this.#at(bytes, at - 2) === LF)) return at + 1;
    }
    return -1;
  }

  #at(bytes: Buffer, index: number): number {
    if (index >= 0) return bytes[index]!;
    return index === -1 ? this.#last : index === -2 ? this.#beforeLast : 0;
  }
}

/** Indexes just past each blank line of whole events, and the end. */
export function* eventEnds(bytes: Buffer): Generator<number> {
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) {
    const next = bytes[at + 1] === CR ? at + 2 : at + 1;
    if (bytes[next] === LF) yield next + 1;
  }
  yield bytes.length;
}

export interface SseEvent {
  readonly event: string | undefined;
  readonly data: string;
}

/** Reads whole events. Records without data (comments, a lone `event:`) give nothing, as the standard says. */
export function readSse(bytes: Buffer): SseEvent[] {
  const events: SseEvent[] = [];
  let event: string | undefined;
  let data: string | undefined;
  const text = bytes.toString('utf8');
  let from = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  while (from < text.length) {
    let to = text.indexOf('\n', from);
    if (to < 0) to = text.length;
    const end = to > from && text.charCodeAt(to - 1) === CR ? to - 1 : to;
    if (end === from) {
      if (data !== undefined) events.push({ event, data });
      event = data = undefined;
    } else if (text.startsWith('data:', from)) {
      const value = text.slice(text.charCodeAt(from + 5) === 0x20 ? from + 6 : from + 5, end);
      data = data === undefined ? value : `${data}\n${value}`;
    } else if (text.startsWith('event:', from)) {
      event = text.slice(from + 6, end).trim();
    }
    from = to + 1;
  }
  if (data !== undefined) events.push({ event, data });
  return events;
}
