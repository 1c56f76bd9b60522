import { eventEnds, readSse, SseCutter, type SseEvent } from '../../../formats/sse/event-stream.ts';
import { isObject, parseJson } from '../../../formats/json/object.ts';
import { isUnreadable } from '../store/response-places.ts';
import type { JsonLimits } from '../../../core/kernel/body/json-scan.ts';
import { errorFrame, withStreamId } from './answers.ts';
import { jsonOf, readFrame, textOf, withTexts } from './frame.ts';
import type { SocketReplyHead, ReplySink } from './reply-socket.ts';

/** Where the messages of a turn go. `sent` is called when they have left, or when the socket has closed. */
interface Senders {
  readonly send: (texts: readonly string[], sent: () => void) => void;
  readonly say: (text: string, sent: () => void) => void;
}

/** The response of a turn that has ended well. */
export interface TurnResult {
  readonly id?: string;
  /** JSON texts of its output items, between commas. */
  readonly output?: string;
}

export interface TurnEnd {
  readonly status: number;
  /** Undefined: the turn failed. */
  readonly result: Required<TurnResult> | undefined;
  /** False: the reply broke off before anything told the client of a failure. */
  readonly whole: boolean;
}

interface TurnNames {
  readonly streamId: string | undefined;
  /** The response that the client named and that the socket has written out. */
  readonly previous: string | undefined;
  /** The id in the request is unknown to the socket. */
  readonly unknownPrevious: boolean;
}

/** Events with a whole response, whose `previous_response_id` is that of the client's request. */
const WITH_RESPONSE: ReadonlySet<string | undefined> = new Set([
  'response.created',
  'response.in_progress',
  'response.completed',
  'response.incomplete',
  'response.failed',
]);
const ENDED_WELL: ReadonlySet<string | undefined> = new Set(['response.completed', 'response.incomplete']);

/** The gateway reads an upstream's events only to keep its response: a nested one is not kept. */
const LIMITS: JsonLimits = { depth: 256, keys: Infinity, items: Infinity };

/** Bytes of events in one turn of the event loop: 2 MB of short ones blocked the process for 2 s (measured). */
const AT_ONCE = 64 * 1024;

/** Turns the reply of a turn into messages: each event is one. */
export class TurnReply implements ReplySink {
  readonly #senders: Senders;
  readonly #names: TurnNames;
  readonly #onEnd: (end: TurnEnd) => void;
  readonly #cutter = new SseCutter();
  readonly #pieces: Buffer[] = [];
  #head: SocketReplyHead = { status: 0, headers: new Map() };
  #closed = false;
  #result: Required<TurnResult> | undefined;

  constructor(senders: Senders, names: TurnNames, onEnd: (end: TurnEnd) => void) {
    this.#senders = senders;
    this.#names = names;
    this.#onEnd = onEnd;
  }

  head(head: SocketReplyHead): void {
    this.#head = head;
  }

  body(bytes: Buffer, taken: () => void): void {
    if (!this.#isStream) {
      this.#pieces.push(bytes);
      return taken();
    }
    const whole = this.#cutter.push(bytes);
    if (this.#cutter.failure) throw new Error(this.#cutter.failure.message);
    if (!whole) taken();
    else if (whole.length <= AT_ONCE) this.#send(whole, taken);
    else this.#sendInSlices(slicesOf(whole), taken);
  }

  #send(events: Buffer, sent: () => void): void {
    const texts = readSse(events).flatMap((event) => this.#message(event));
    if (texts.length === 0) sent();
    else this.#senders.send(texts, sent);
  }

  /** Others have their turns between two slices, and at most one waits for the connection. */
  #sendInSlices(slices: Iterator<Buffer, void>, sent: () => void): void {
    const { done, value } = slices.next();
    if (done || this.#closed) return sent();
    this.#send(value, () => void setImmediate(() => this.#sendInSlices(slices, sent)));
  }

  closed(whole: boolean): void {
    this.#closed = true;
    const end = (): void => this.#onEnd({ status: this.#head.status, result: this.#result, whole });
    // The reply to a handshake is for the listener.
    const isShown = whole && !this.#isStream && this.#head.status !== 101;
    const text = isShown ? this.#plain() : undefined;
    if (text === undefined) end();
    else this.#senders.say(text, end);
  }

  get #isStream(): boolean {
    return this.#head.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  }

  /** `error` refuses a turn on a socket, so `response.failed` alone ends one that has begun. */
  #message({ event, data }: SseEvent): readonly string[] {
    if (!data.startsWith('{') || event === 'error') return [];
    const type = event ?? typeOf(data);
    const isRead = ENDED_WELL.has(type) || (this.#names.previous !== undefined && WITH_RESPONSE.has(type));
    return [withStreamId(isRead ? this.#withResponse(type, data) : data, this.#names.streamId)];
  }

  #withResponse(type: string | undefined, data: string): string {
    const frame = readFrame(Buffer.from(data), LIMITS);
    const span = frame?.topLevel.get('response');
    const response = span && readFrame(frame!.bytes.subarray(span.from, span.to), LIMITS);
    if (!frame || !response) return data;
    if (ENDED_WELL.has(type)) this.#keep(textOf(response, 'id'), jsonOf(response, 'output'));
    const { previous } = this.#names;
    if (previous === undefined || !response.topLevel.has('previous_response_id')) return data;
    const named = withTexts(response, new Map([['previous_response_id', JSON.stringify(previous)]]));
    return withTexts(frame, new Map([['response', named.toString()]])).toString();
  }

  #keep(id: string | undefined, output: string | undefined): void {
    const items: unknown = output === undefined ? undefined : JSON.parse(output);
    if (id === undefined || !Array.isArray(items)) return;
    const kept = items.filter((item) => !isUnreadable(item)).map((item) => JSON.stringify(item));
    this.#result = { id, output: kept.join(',') };
  }

  /** A reply without events: an error, or a response that is whole. */
  #plain(): string {
    const { streamId, unknownPrevious } = this.#names;
    const body = parseJson(Buffer.concat(this.#pieces).toString('utf8'));
    if (this.#head.status < 300) return withStreamId(this.#completed(body), streamId);
    const error = isObject(body) && isObject(body.error) ? body.error : {};
    // Clients send the whole input again after this code, whatever refused the id.
    const isUnknown = unknownPrevious && error.param === 'previous_response_id';
    const shown = isUnknown ? { ...error, code: 'previous_response_not_found' } : error;
    return withStreamId(errorFrame(this.#head.status, shown), streamId);
  }

  #completed(response: unknown): string {
    const { id, output } = isObject(response) ? response : {};
    if (typeof id === 'string') this.#keep(id, JSON.stringify(output));
    return JSON.stringify({ type: 'response.completed', sequence_number: 0, response });
  }
}

/** Whole events of about so many bytes each. */
function* slicesOf(events: Buffer): Generator<Buffer, void> {
  let from = 0;
  for (const end of eventEnds(events)) {
    if (end - from < AT_ONCE && end < events.length) continue;
    yield events.subarray(from, end);
    from = end;
  }
}

function typeOf(data: string): string | undefined {
  const frame = readFrame(Buffer.from(data), LIMITS);
  return frame && textOf(frame, 'type');
}
