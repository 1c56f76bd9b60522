import { Buffer } from 'node:buffer';
import { ReplyFault } from '../faults.ts';
import { parseJson } from '../json/object.ts';
import { parseReplyText } from '../json/rounding.ts';
import { EventTooLarge, ByteBuffer } from '../sse/held-bytes.ts';
import { eventEnds, readRecords, SseCutter, sseText } from '../sse/event-stream.ts';
import { StreamStart } from '../sse/stream-start.ts';
import type { UpstreamFailure } from '../events.ts';
import { OPEN_OBJECT, OPEN_ARRAY, QUOTE, BACKSLASH, CLOSE_OBJECT, CLOSE_ARRAY } from '../json/scan.ts';

/** Complete events: their received bytes, and the JSON text of each. */
export interface Framed {
  readonly whole: Buffer | undefined;
  readonly texts: readonly string[];
  /** `whole` is server-sent events. */
  readonly isSse?: boolean;
  /** `whole` has lines at which Google's SDKs fail, so it is written anew. */
  readonly isOdd?: boolean;
}

/** The events that were held at the end. `cut`: an event was truncated. */
interface LastFramed extends Framed {
  readonly cut: boolean;
}

interface Framer {
  push(bytes: Buffer): Framed;
  end(): LastFramed;
}

/**
 * Finds the events of a stream: server-sent events, or the elements of a JSON array if the request had no `alt=sse`.
 * The first byte that is not white space decides (docs/protocols/gemini.md#json-array-stream). A single object, such as
 * an error, is read as an array of one.
 */
export class Framing implements Framer {
  readonly #start = new StreamStart();
  #framer: Framer | undefined;

  push(bytes: Buffer): Framed {
    return this.#framer ? this.#framer.push(bytes) : this.#begin(bytes);
  }

  #begin(received: Buffer): Framed {
    const { bytes, first } = this.#start.read(received);
    if (first === undefined) return { whole: bytes.length > 0 ? bytes : undefined, texts: [] };
    this.#framer = bytes[first] === OPEN_ARRAY || bytes[first] === OPEN_OBJECT ? new ArrayFramer() : new SseFramer();
    return this.#framer.push(bytes);
  }

  /** The stream is a JSON array, or one object. False as long as nothing tells. */
  get isArray(): boolean {
    return this.#framer instanceof ArrayFramer;
  }

  end(): LastFramed {
    return this.#framer?.end() ?? { whole: undefined, texts: [], cut: false };
  }
}

class SseFramer implements Framer {
  readonly #cutter = new SseCutter();

  push(bytes: Buffer): Framed {
    const whole = this.#cutter.push(bytes);
    if (this.#cutter.failure) throw new ReplyFault(this.#cutter.failure.message);
    return whole ? new SseEvents(whole) : NO_EVENTS;
  }

  /** A last event without its blank line counts when it is readable. It gets that line, because parsers wait for it. */
  end(): LastFramed {
    const rest = this.#cutter.rest();
    const texts = dataOf(sseText(rest));
    const cut = texts.some((text) => parseJson(text) === undefined);
    // Comments do not leave (`isOdd`).
    if (cut || texts.length === 0) return { whole: undefined, texts: [], cut };
    const whole = Buffer.concat([rest, BLANK_LINE]);
    return { whole, texts, isOdd: isOdd(whole), cut };
  }
}

/** The bytes of server-sent events before event number `count`: all that may be sent when that event is a failure. */
export function bytesBefore(whole: Buffer, count: number): Buffer {
  let from = 0;
  let seen = 0;
  for (const to of eventEnds(whole)) {
    if (dataOf(sseText(whole.subarray(from, to))).length > 0) seen += 1;
    if (seen > count) break;
    from = to;
  }
  return whole.subarray(0, from);
}

const NO_EVENTS: Framed = { whole: undefined, texts: [] };

/** Server-sent events, whose data are searched only on demand. */
class SseEvents implements Framed {
  readonly whole: Buffer;
  readonly isSse = true;

  constructor(whole: Buffer) {
    this.whole = whole;
  }

  get texts(): readonly string[] {
    return dataOf(sseText(this.whole));
  }

  get isOdd(): boolean {
    return isOdd(this.whole);
  }
}

/**
 * A line that is neither empty nor `data: ` with JSON, and data in several lines: Google's SDKs for Python and Go read each line
 * alone. `[DONE]` and empty data are no JSON.
 */
const ODD_LINE = /(?:^|[\r\n])(?!data: (?!\[DONE\]|[ \t]*[\r\n])|[\r\n]|$)|[^\r\n](?:\r\n?|\n)data: /;

const isOdd = (whole: Buffer): boolean => ODD_LINE.test(whole.toString('latin1'));

const BLANK_LINE = Buffer.from('\r\n\r\n');

/** Skips empty data, which keeps a connection open, and `[DONE]`, with which OpenAI-style proxies end every stream. */
export function dataOf(text: string): string[] {
  return readRecords(text)
    .map(({ data }) => data)
    .filter((data) => data.trim() !== '' && data !== '[DONE]');
}

class ArrayFramer implements Framer {
  readonly #cutter = new JsonElementCutter();

  push(bytes: Buffer): Framed {
    return this.#cutter.push(bytes);
  }

  end(): LastFramed {
    const cut = this.#cutter.open;
    const rest = this.#cutter.rest();
    return { whole: cut || rest.length === 0 ? undefined : rest, texts: [], cut };
  }
}

/** One response, or an array of them: an error in a data line may come as `[{"error":…}]`. */
export function chunksOf(text: string): readonly unknown[] {
  let value: unknown;
  try {
    value = parseReplyText(text);
  } catch {
    throw new ReplyFault('an event of the reply is not JSON');
  }
  return Array.isArray(value) ? value : [value];
}

/** Converts the error of an unreadable reply to a failure. Any other error is a bug and is thrown again. */
export function unreadable(error: unknown): UpstreamFailure {
  if (!(error instanceof ReplyFault) && !(error instanceof EventTooLarge)) throw error;
  return { status: 502, kind: 'unreadable_reply', message: `The upstream’s reply cannot be read: ${error.message}.` };
}

/**
 * Cuts a JSON array, arriving in any split, into its elements. A Gemini stream without `alt=sse` is such an array. A
 * single object counts as an array of one. Works on bytes: no byte of another UTF-8 character is an ASCII one.
 */
class JsonElementCutter {
  readonly #held = new ByteBuffer();
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** Where the open element begins, counted from the first byte held. */
  #start = 0;

  push(bytes: Buffer): Framed {
    const starts: number[] = [];
    const ends: number[] = [];
    this.#scan(bytes, starts, ends);
    if (ends.length === 0) {
      this.#held.add(bytes, 0);
      return NO_EVENTS;
    }
    const length = ends.at(-1)!;
    const cut = length - this.#held.length;
    const whole = this.#held.take(bytes, cut);
    this.#held.add(bytes, cut);
    this.#start -= length;
    return { whole, texts: ends.map((end, at) => whole.toString('utf8', starts[at], end)) };
  }

  /** Returns the bytes that are held after the last complete element. */
  rest(): Buffer {
    return this.#held.take();
  }

  /** True inside an element: the stream was cut there. */
  get open(): boolean {
    return this.#depth > 0;
  }

  /**
   * Notes where elements begin and end, counted from the first byte held. Elements are objects; the array around them,
   * its commas and white space are skipped. One loop over local variables reads each byte once, because this loop is
   * all the work of a long read.
   */
  #scan(bytes: Buffer, starts: number[], ends: number[]): void {
    const held = this.#held.length;
    let depth = this.#depth;
    let inString = this.#inString;
    let start = this.#start;
    let at = this.#escaped ? 1 : 0;
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at]!;
      if (inString) {
        if (byte === BACKSLASH) at += 1;
        else if (byte === QUOTE) inString = false;
      } else if (byte === QUOTE) inString = depth > 0;
      else if (byte === OPEN_OBJECT || (byte === OPEN_ARRAY && depth > 0)) {
        if (depth === 0) start = held + at;
        depth += 1;
      } else if (depth > 0 && (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY)) {
        depth -= 1;
        if (depth > 0) continue;
        starts.push(start);
        ends.push(held + at + 1);
      }
    }
    this.#escaped = at > bytes.length;
    this.#depth = depth;
    this.#inString = inString;
    this.#start = start;
  }
}
