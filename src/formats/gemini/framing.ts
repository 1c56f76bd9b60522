import { Buffer } from 'node:buffer';
import { ReplyFault } from '../format.ts';
import { parseReplyText } from '../json/rounding.ts';
import { EventTooLarge } from '../sse/held-bytes.ts';
import { eventEnds, readSse, SseCutter } from '../sse/event-stream.ts';
import { StreamStart } from '../sse/stream-start.ts';
import type { UpstreamFailure } from '../events.ts';
import { JsonElementCutter } from './json-stream.ts';
import { OPEN_OBJECT, OPEN_ARRAY } from '../json/scan.ts';

/** Complete events: their received bytes, and the JSON text of each. */
export interface Framed {
  readonly whole: Buffer | undefined;
  readonly texts: readonly string[];
}

/** The events that were held at the end. `cut`: an event was truncated. */
export interface LastFramed extends Framed {
  readonly cut: boolean;
}

interface Framer {
  push(bytes: Buffer): Framed;
  end(): LastFramed;
  /**
   * Returns the bytes of `whole` before its event number `count`: all that may be sent when that event is a failure.
   */
  before(whole: Buffer, count: number): Buffer;
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

  end(): LastFramed {
    return this.#framer?.end() ?? { whole: undefined, texts: [], cut: false };
  }

  before(whole: Buffer, count: number): Buffer {
    return this.#framer?.before(whole, count) ?? whole;
  }
}

class SseFramer implements Framer {
  readonly #cutter = new SseCutter();

  push(bytes: Buffer): Framed {
    const whole = this.#cutter.push(bytes);
    return { whole, texts: whole ? dataOf(whole) : [] };
  }

  /** A last event without its blank line counts when it is readable. It gets that line, because parsers wait for it. */
  end(): LastFramed {
    const rest = this.#cutter.rest();
    const texts = dataOf(rest);
    const cut = texts.some((text) => !isJson(text));
    if (cut || rest.length === 0) return { whole: undefined, texts: [], cut };
    if (texts.length > 0) return { whole: Buffer.concat([rest, BLANK_LINE]), texts, cut };
    // Half a line would swallow the event that reports the interruption.
    return { whole: rest.at(-1) === LF || rest.at(-1) === CR ? rest : undefined, texts, cut };
  }

  before(whole: Buffer, count: number): Buffer {
    let from = 0;
    let seen = 0;
    for (const to of eventEnds(whole)) {
      if (dataOf(whole.subarray(from, to)).length > 0) seen += 1;
      if (seen > count) break;
      from = to;
    }
    return whole.subarray(0, from);
  }
}

const LF = 0x0a;
const CR = 0x0d;
const BLANK_LINE = Buffer.from('\r\n\r\n');

/** Skips empty data, which keeps a connection open, and `[DONE]`, with which OpenAI-style proxies end every stream. */
function dataOf(bytes: Buffer): string[] {
  return readSse(bytes)
    .map(({ data }) => data)
    .filter((data) => data.trim() !== '' && data !== '[DONE]');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
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

  /** `whole` begins and ends between elements, so a new cutter finds the same elements. */
  before(whole: Buffer, count: number): Buffer {
    return whole.subarray(0, count === 0 ? 0 : new JsonElementCutter().push(whole).ends[count - 1]);
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

/**
 * Converts the error of an unreadable reply to a failure. Any other error is a bug of the gateway and is thrown again.
 */
export function unreadable(error: unknown): UpstreamFailure {
  if (!(error instanceof ReplyFault) && !(error instanceof EventTooLarge)) throw error;
  return { status: 502, kind: 'unreadable_reply', message: `The upstream’s reply cannot be read: ${error.message}.` };
}
