import { createSignals, type Signals } from '../events.ts';
import type { ClientContext, PassThrough, ReplyContext } from '../format.ts';
import type { BodyEdit, BodyView } from '../body-view.ts';
import type { RequestTarget } from '../request-target.ts';
import { PlainPassThrough } from '../streams/plain-pass-through.ts';
import { observe } from '../streams/signals.ts';
import { eventEnd, hasReturns, readSse, SseCutter } from '../sse/event-stream.ts';
import { decodeReply, MessageReader } from './decode-reply.ts';
import { feed } from './decode-stream.ts';
import { interrupted } from './errors.ts';
import { parseJson } from '../json/object.ts';
import { CLOSE_OBJECT } from '../json/scan.ts';
import { isModelInBody, VERTEX_VERSION } from './encode-extras.ts';

export function passThrough(client: ClientContext, stream: boolean): PassThrough {
  return stream
    ? new StreamPass({ model: client.model, newCallId: () => '' }, client.awaitsOutput ? 'output' : 'answered')
    : new PlainPassThrough(decodeReply, client.model);
}

const LF = 0x0a;
const CR = 0x0d;
const MESSAGE_STOP = Buffer.from('event: message_stop\ndata: {"type":"message_stop"}\n\n');
const DELTA = 'event: content_block_delta';
/** Length of the bytes before the text of a delta; behind the text, Anthropic pads with spaces. */
const DELTA_HEAD = `${DELTA}\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`
  .length;

/**
 * Anthropic names every event on a line of its own, so a record's kind is known without reading its data. Deltas are
 * most of a stream: once part of the answer has arrived, they only count as progress. All other events are decoded by
 * the same reader as translated replies.
 */
class StreamPass implements PassThrough {
  readonly signals: Signals = createSignals();
  readonly #cutter = new SseCutter();
  readonly #reply: ReplyContext;
  /** The signal from which on deltas are not read. */
  readonly #until: 'answered' | 'output';
  #reader: MessageReader;

  constructor(reply: ReplyContext, until: 'answered' | 'output') {
    this.#reply = reply;
    this.#until = until;
    this.#reader = new MessageReader(reply);
  }

  push(bytes: Buffer): Buffer | undefined {
    if (this.signals.failure) return undefined;
    const whole = this.#cutter.push(bytes);
    this.signals.failure = this.#cutter.failure;
    return whole && this.#scan(whole);
  }

  end(): Buffer | undefined {
    if (this.signals.failure) return undefined;
    const rest = this.#cutter.rest();
    const records = readSse(rest);
    const cut = records.some(({ data }) => parseJson(data) === undefined);
    const last = cut ? undefined : this.#last(rest, records.length);
    if (this.signals.ended || this.signals.failure) return last;
    if (cut || !this.#reader.stopped) {
      this.signals.failure = interrupted();
      return last;
    }
    // The reply is complete, but a server that just closes omits the event that tells clients so.
    this.#reader.end();
    observe(this.signals, this.#reader.drain());
    return last ? Buffer.concat([last, MESSAGE_STOP]) : MESSAGE_STOP;
  }

  /** A rest of comments passes unchanged (recorded). An event without its blank line gets it: parsers need it. */
  #last(rest: Buffer, records: number): Buffer | undefined {
    if (records === 0) return rest.at(-1) === LF || rest.at(-1) === CR ? rest : undefined;
    return this.#scan(Buffer.concat([rest, Buffer.from('\n\n')]));
  }

  /** Latin-1 keeps one character per byte, so positions in the text are positions in the bytes. */
  #scan(bytes: Buffer): Buffer | undefined {
    const text = bytes.toString('latin1');
    const returns = hasReturns(text);
    const kept: Buffer[] = [];
    let from = 0;
    let clean = 0;
    while (from < text.length) {
      const to = eventEnd(text, from, returns);
      const passed = this.#keep(bytes, from, to, text);
      if (!passed) {
        kept.push(bytes.subarray(clean, from));
        clean = this.signals.failure ? text.length : to;
        if (this.signals.failure) break;
      }
      from = to;
    }
    if (clean === 0) return bytes;
    const rest = Buffer.concat([...kept, bytes.subarray(clean)]);
    return rest.length > 0 ? rest : undefined;
  }

  /**
   * False for an event that the client must not see: an error, which the caller writes, and Vertex AI's own events
   * (docs/protocols/vertex-ai.md#claude-events).
   */
  #keep(bytes: Buffer, from: number, to: number, text: string): boolean {
    if (this.signals[this.#until] && text.startsWith(DELTA, from) && isObjectText(text, from + DELTA.length, to)) {
      this.signals.progress += 1;
      this.signals.text += Math.max(0, text.lastIndexOf('"', to) - from - DELTA_HEAD);
      return true;
    }
    const [event] = readSse(bytes.subarray(from, to));
    if (!event) return true;
    if (event.event === 'vertex_event') return false;
    // The reply is complete: later events are left to the client and are no error of this reply.
    if (this.signals.ended) return true;
    // Some streams start over with another model in place of the first (recorded). The client gets both messages, as
    // the API sends them.
    if (event.event === 'message_start') this.#reader = new MessageReader(this.#reply);
    const before = this.#reader.progress;
    feed(this.#reader, event, false);
    if (this.#reader.progress !== before) this.signals.progress += 1;
    if (this.#reader.begun) this.signals.begun = true;
    observe(this.signals, this.#reader.drain());
    return this.signals.failure === undefined;
  }
}

/** The start of a record's data: an object with its first member. */
const OBJECT = /(?:\r\n?|\n)data: ?\{[ \t]*"[^"\\]*"[ \t]*:[ \t]*(?:["\d{[-]|null|true|false)/y;

/** The data from `start` begins as an object and ends as one. Other records are decoded, to report broken ones. */
function isObjectText(text: string, start: number, end: number): boolean {
  OBJECT.lastIndex = start;
  if (!OBJECT.test(text)) return false;
  let last = end - 1;
  while (text.charCodeAt(last) === LF || text.charCodeAt(last) === CR) last -= 1;
  return text.charCodeAt(last) === CLOSE_OBJECT;
}

const source = 'gateway';

/** The model under the name of this host, and on Vertex AI a version in the body (docs/protocols/vertex-ai.md#claude-version). */
export function passThroughEdits(body: BodyView, target: RequestTarget): readonly BodyEdit[] {
  const model = isModelInBody(target) ? target.model : undefined;
  const edits: BodyEdit[] = body.value('model') === model ? [] : [{ path: ['model'], value: model, source }];
  if (target.host === 'vertex' && !body.has('anthropic_version'))
    edits.push({ path: ['anthropic_version'], value: VERTEX_VERSION, source });
  // A body that was written for Vertex AI: Anthropic's own API has the version in a header.
  if (target.host === 'direct' && body.has('anthropic_version') && body.value('anthropic_version') === VERTEX_VERSION)
    edits.push({ path: ['anthropic_version'], value: undefined, source });
  return edits;
}
