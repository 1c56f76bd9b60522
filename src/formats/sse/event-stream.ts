import type { UpstreamFailure } from '../events.ts';
import { ByteBuffer, EventTooLarge } from './held-bytes.ts';
import { withoutMark } from './stream-start.ts';

/**
 * Server-sent events on bytes. Cutting and reading are separate: a pass-through only cuts, a decoder reads the cut
 * events. Tolerates any split of the bytes, lines that end in LF, CRLF or CR (all Gemini recordings use CRLF, all
 * Anthropic ones LF), comments, several `data:` lines and a byte order mark (WHATWG HTML, section 9.2).
 */

const LF = 0x0a;
const CR = 0x0d;

/** Cuts a byte stream at event ends (blank lines). Only the new bytes are searched. */
export class SseCutter {
  readonly #held = new ByteBuffer();
  #begun = false;
  /** An event was too large to be held. */
  failure: UpstreamFailure | undefined;

  /** Bytes up to the last event end seen, or undefined. Without the byte order mark of the stream. */
  push(bytes: Buffer): Buffer | undefined {
    try {
      const cut = this.#lastEnd(bytes);
      const whole = cut < 0 ? undefined : this.#begin(this.#held.take(bytes, cut));
      if (cut < bytes.length) this.#held.add(bytes, Math.max(0, cut));
      return whole;
    } catch (error) {
      if (!(error instanceof EventTooLarge)) throw error;
      this.failure = error.toFailure();
      return undefined;
    }
  }

  /** The held bytes: an event whose blank line never came. */
  rest(): Buffer {
    return this.#begin(this.#held.take());
  }

  #begin(whole: Buffer): Buffer {
    if (this.#begun) return whole;
    this.#begun = true;
    return withoutMark(whole);
  }

  /** Index just past the last blank line in `bytes`, including the held bytes before it; -1 when there is none. */
  #lastEnd(bytes: Buffer): number {
    let lf = lastOf(bytes, LF, bytes.length - 1);
    let cr = lastOf(bytes, CR, bytes.length - 1);
    while (lf >= 0 || cr >= 0) {
      if (lf > cr) {
        const previous = this.#held.at(lf - 1, bytes);
        if (previous === LF || (previous === CR && isLineEnd(this.#held.at(lf - 2, bytes)))) return lf + 1;
        lf = lastOf(bytes, LF, lf - 1);
      } else {
        if (this.#endsBlankLine(bytes, cr)) return cr + 1;
        cr = lastOf(bytes, CR, cr - 1);
      }
    }
    return -1;
  }

  /**
   * True when the CR at `cr` ends a blank line by itself, without an LF. At the end of a read, the LF of a CRLF may
   * still come. After a line that ends in LF or CRLF the cutter waits for it. After a line that ends in a lone CR it
   * does not wait, since the event would be held until the next one.
   */
  #endsBlankLine(bytes: Buffer, cr: number): boolean {
    const next = bytes[cr + 1];
    if (next === LF) return false;
    const previous = this.#held.at(cr - 1, bytes);
    return previous === CR || (previous === LF && next !== undefined);
  }
}

function isLineEnd(code: number | undefined): boolean {
  return code === LF || code === CR;
}

/** A native search costs as much as comparing this many bytes here. */
const SHORT = 32;

/** Index of the last byte `code` at or before `from`, or -1. */
function lastOf(bytes: Buffer, code: number, from: number): number {
  if (from > SHORT) return bytes.lastIndexOf(code, from);
  let at = from;
  while (at >= 0 && bytes[at] !== code) at -= 1;
  return at;
}

/** A line end and an empty line. The CR of a CRLF is not a line end of its own. */
const BLANK_LINE = /(?:\r\n|\n|\r(?!\n))(?:\r\n?|\n)/g;

/**
 * Index after the blank line that ends the event at `from`, or the text's length. `text` has one character per byte
 * (latin1), so that positions in it are positions in the bytes. Recorded OpenAI and Anthropic streams use LF only,
 * which needs no pattern.
 */
export function eventEnd(text: string, from: number, returns: boolean): number {
  if (!returns) {
    const at = text.indexOf('\n\n', from);
    return at < 0 ? text.length : at + 2;
  }
  BLANK_LINE.lastIndex = from;
  return BLANK_LINE.test(text) ? BLANK_LINE.lastIndex : text.length;
}

/** True when a line of the text may end in CR. `eventEnd` must know this for the whole text. */
export const hasReturns = (text: string): boolean => text.includes('\r');

/** Yields the index after each blank line of complete events, and the text's length. */
export function* eventEnds(bytes: Buffer): Generator<number> {
  const text = bytes.toString('latin1');
  const returns = hasReturns(text);
  let at = 0;
  do yield (at = eventEnd(text, at, returns));
  while (at < text.length);
}

export interface SseEvent {
  readonly event: string | undefined;
  readonly data: string;
}

export const readSse = (bytes: Buffer): SseEvent[] => readRecords(sseText(bytes));

/** The text of a stream's bytes, without a byte order mark. */
export function sseText(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/** Reads complete events. Records without data (comments, a lone `event:`) yield nothing, as the standard says. */
export function readRecords(text: string): SseEvent[] {
  const events: SseEvent[] = [];
  let event: string | undefined;
  let data: string | undefined;
  let from = 0;
  // Each is searched again only when reading has passed it: a text may hold one kind of line end only.
  let lf = indexFrom(text, '\n', from);
  let cr = indexFrom(text, '\r', from);
  while (from < text.length) {
    if (lf < from) lf = indexFrom(text, '\n', from);
    if (cr < from) cr = indexFrom(text, '\r', from);
    const end = lf < cr ? lf : cr;
    if (end === from) {
      if (data !== undefined) events.push({ event, data });
      event = data = undefined;
    } else if (text.startsWith('data:', from)) {
      const value = text.slice(text.charCodeAt(from + 5) === 0x20 ? from + 6 : from + 5, end);
      data = data === undefined ? value : `${data}\n${value}`;
    } else if (text.startsWith('event:', from)) {
      event = text.slice(from + 6, end).trim();
    }
    from = lf === cr + 1 ? end + 2 : end + 1;
  }
  if (data !== undefined) events.push({ event, data });
  return events;
}

/** Index of the character, or the text's length when there is none. */
function indexFrom(text: string, character: string, from: number): number {
  const at = text.indexOf(character, from);
  return at < 0 ? text.length : at;
}

/** True for an event with an id. OpenAI's SDK for Python keeps it, and dispatches an event without data at each blank line after it. */
export const hasId = (event: Buffer): boolean => /^id(?::|$)/m.test(event.toString('latin1'));
