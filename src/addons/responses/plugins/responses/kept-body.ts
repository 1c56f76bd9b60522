import {
  addPiece,
  eachMember,
  isObject,
  parseJson,
  toClientError,
  type Exchange,
  type JsonSpan,
  type MaybePromise,
} from '../../../../core/kernel/index.ts';
import { WrappedSource, type GatewayError, type Source } from '../../../../plugin/index.ts';

/** Keeps a response, given as JSON; a promise while another process does. */
export type Keep = (response: Buffer) => MaybePromise<void>;

/** Passes a plain reply on and keeps its response, at most `limit` bytes long, before the last piece leaves. */
export class KeptPlainBody extends WrappedSource {
  readonly #limit: number;
  readonly #keep: Keep;
  #pieces: Buffer[] | undefined = [];
  #size = 0;
  #last: Buffer | undefined;

  constructor(source: Source, limit: number, keep: Keep) {
    super(source);
    this.#limit = limit;
    this.#keep = keep;
  }

  override cancel(reason: GatewayError): void {
    this.#pieces = undefined;
    super.cancel(reason);
  }

  override push(bytes: Buffer): void {
    this.#size += bytes.length;
    if (this.#size > this.#limit) this.#pieces = undefined;
    if (this.#pieces) addPiece(this.#pieces, bytes);
    if (this.#last) super.push(this.#last);
    this.#last = bytes;
  }

  override end(): void {
    const pieces = this.#pieces;
    const leave = (): void => {
      if (this.#last) super.push(this.#last);
      super.end();
    };
    const keeping = pieces && this.#keep(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, this.#size));
    if (keeping) void keeping.then(leave);
    else leave();
  }
}

/** Only the first events and the last one have a response. A text cannot have this: its quotes are escaped. */
const HAS_RESPONSE = Buffer.from('"response":');
const LAST: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete', 'response.failed']);

/** Keeps the response before its last event leaves, so that it can be continued; a broken stream as failed. */
export class KeptStream extends WrappedSource {
  readonly #exchange: Exchange;
  readonly #keep: Keep;
  /** The response as it began. Undefined before, and once the end is kept. */
  #begun: Buffer | undefined;
  #ended = false;
  /** Events that wait until the response is kept. */
  #held: (() => void)[] | undefined;

  constructor(source: Source, exchange: Exchange, keep: Keep) {
    super(source);
    this.#exchange = exchange;
    this.#keep = keep;
  }

  override cancel(reason: GatewayError): void {
    this.#held = undefined;
    void this.#broken({ status: 'cancelled' });
    super.cancel(reason);
  }

  override push(bytes: Buffer): void {
    if (!this.#ended) this.#read(bytes);
    this.#pass(() => super.push(bytes));
  }

  override end(): void {
    this.#pass(() => super.end());
  }

  override fail(error: GatewayError): void {
    this.#hold(this.#broken({ status: 'failed', error: this.#reported(error) }));
    this.#pass(() => super.fail(error));
  }

  #read(bytes: Buffer): void {
    for (const { type, response } of responsesIn(bytes)) {
      if (LAST.has(type)) {
        this.#ended = true;
        this.#begun = undefined;
        return this.#hold(this.#keep(response));
      }
      // A copy: the bytes may be part of many events.
      this.#begun ??= Buffer.from(response);
    }
  }

  #broken(changed: { readonly status: string; readonly error?: unknown }): MaybePromise<void> {
    const begun = this.#begun && parseJson(this.#begun.toString('utf8'));
    this.#begun = undefined;
    this.#ended = true;
    return isObject(begun) ? this.#keep(Buffer.from(JSON.stringify({ ...begun, ...changed }))) : undefined;
  }

  #hold(keeping: MaybePromise<void>): void {
    if (!keeping) return;
    const held = (this.#held = []);
    void keeping.then(() => this.#release(held));
  }

  #release(held: readonly (() => void)[]): void {
    if (this.#held !== held) return;
    this.#held = undefined;
    for (const pass of held) pass();
  }

  #pass(pass: () => void): void {
    if (this.#held) this.#held.push(pass);
    else pass();
  }

  /** The error as the last event of the stream shows it. */
  #reported(error: GatewayError): unknown {
    const { operation, id, replyId } = this.#exchange;
    const event = operation?.format.encodeStreamError(toClientError(error, id, replyId)) ?? '';
    const response = lastResponse(Buffer.from(event));
    const failed = response && parseJson(response.toString('utf8'));
    return isObject(failed) ? failed['error'] : null;
  }
}

/** The response in the last event of a stream, if the event is among these. */
export const lastResponse = (bytes: Buffer): Buffer | undefined =>
  responsesIn(bytes).find(({ type }) => LAST.has(type))?.response;

interface EventWithResponse {
  readonly type: string;
  readonly response: Buffer;
}

function* responsesIn(bytes: Buffer): Generator<EventWithResponse, void> {
  for (let at = bytes.indexOf(HAS_RESPONSE); at >= 0;) {
    const line = lineAt(bytes, at);
    const found = responseIn(bytes, line);
    if (found) yield found;
    at = bytes.indexOf(HAS_RESPONSE, line.to);
  }
}

const LINE_FEED = 0x0a;

function lineAt(bytes: Buffer, at: number): JsonSpan {
  const end = bytes.indexOf(LINE_FEED, at);
  return { from: bytes.lastIndexOf(LINE_FEED, at) + 1, to: end < 0 ? bytes.length : end };
}

const DATA = /^data: ?/;

function responseIn(bytes: Buffer, { from, to }: JsonSpan): EventWithResponse | undefined {
  const line = bytes.toString('latin1', from, to);
  const open = DATA.exec(line)?.[0].length;
  if (open === undefined) return undefined;
  let type: string | undefined;
  let response: JsonSpan | undefined;
  eachMember(line, open, (key, value) => {
    if (key === 'type') type = line.slice(value.from + 1, value.to - 1);
    else if (key === 'response' && line[value.from] === '{') response = value;
    return type === undefined || response === undefined;
  });
  if (type === undefined || !response) return undefined;
  return { type, response: bytes.subarray(from + response.from, from + response.to) };
}
