import { createSignals, type Signals } from '../events.ts';
import type { BodyEdit, BodyView } from '../body-view.ts';
import type { ClientContext, PassThrough } from '../format.ts';
import type { RequestTarget } from '../request-target.ts';
import { CLOSE_OBJECT } from '../json/scan.ts';
import { eventEnds, readSse, SseCutter } from '../sse/event-stream.ts';
import { PlainPassThrough } from '../streams/plain-pass-through.ts';
import { observe } from '../streams/signals.ts';
import { decodeReply } from './decode-reply.ts';
import { ResponseReader } from './response-reader.ts';
import { feed } from './decode-stream.ts';
import { interrupted } from './errors.ts';

export function passThrough(client: ClientContext, stream: boolean): PassThrough {
  return stream ? new ResponsePass(client) : new PlainPassThrough(decodeReply, client.model);
}

/** `event: response.output_text.delta`, and the other deltas. */
const DELTA = /^event: ?response\.[a-z_]+(?:\.[a-z_]+)*\.delta\r?\ndata: ?\{/;
const LONGEST_NAME = 80;

/**
 * The API names every event on a line of its own, so a record's kind is known without reading its data. Deltas are most of a stream:
 * once part of the answer has arrived, they only count as progress.
 */
class ResponsePass implements PassThrough {
  readonly signals: Signals = createSignals();
  readonly #cutter = new SseCutter();
  readonly #reader: ResponseReader;
  /** The signal from which on deltas are not read. */
  readonly #until: 'answered' | 'output';

  constructor({ model, awaitsOutput }: ClientContext) {
    this.#until = awaitsOutput ? 'output' : 'answered';
    this.#reader = new ResponseReader({ model, newCallId: () => '' });
  }

  push(bytes: Buffer): Buffer | undefined {
    if (this.signals.failure) return undefined;
    const whole = this.#cutter.push(bytes);
    this.signals.failure = this.#cutter.failure;
    return whole && this.#scan(whole, false);
  }

  end(): Buffer | undefined {
    if (this.signals.failure) return undefined;
    const rest = this.#cutter.rest();
    // An event that lacks only its blank line gets that line, which parsers need.
    const last = readSse(rest).length > 0 ? this.#scan(Buffer.concat([rest, Buffer.from('\n\n')]), true) : undefined;
    if (!this.signals.ended) this.signals.failure ??= interrupted();
    return last;
  }

  /** The events before one that reports a failure, which the caller writes. */
  #scan(bytes: Buffer, closing: boolean): Buffer | undefined {
    let from = 0;
    for (const to of eventEnds(bytes)) {
      if (!this.#keep(bytes.subarray(from, to), closing)) return from > 0 ? bytes.subarray(0, from) : undefined;
      from = to;
    }
    return bytes;
  }

  #keep(record: Buffer, closing: boolean): boolean {
    if (this.signals.ended) return true;
    if (this.signals[this.#until] && DELTA.test(record.toString('latin1', 0, LONGEST_NAME)) && isClosed(record)) {
      this.signals.progress += 1;
      this.signals.text += deltaLength(record);
      return true;
    }
    const [event] = readSse(record);
    if (!event) return true;
    if (feed(this.#reader, event, closing)) this.signals.progress += 1;
    if (this.#reader.begun) this.signals.begun = true;
    observe(this.signals, this.#reader.drain());
    return this.signals.failure === undefined;
  }
}

/** The data end with an object's end: a delta that does not is parsed, and fails. */
function isClosed(record: Buffer): boolean {
  let last = record.length - 1;
  while (record[last] === LF || record[last] === CR) last -= 1;
  return record[last] === CLOSE_OBJECT;
}

const LF = 0x0a;
const CR = 0x0d;
const DELTA_MEMBER = '"delta":"';
const QUOTE = 0x22;

/** Up to the first quote, also an escaped one: the API pads its events, so their length says nothing. */
function deltaLength(record: Buffer): number {
  const start = record.indexOf(DELTA_MEMBER) + DELTA_MEMBER.length;
  return start < DELTA_MEMBER.length ? 0 : Math.max(0, record.indexOf(QUOTE, start) - start);
}

/** The model under the name of this target. */
export function passThroughEdits(body: BodyView, { model }: RequestTarget): readonly BodyEdit[] {
  return body.value('model') === model ? [] : [{ path: ['model'], value: model, source: 'gateway' }];
}
