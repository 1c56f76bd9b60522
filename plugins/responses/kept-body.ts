import {
  isObject,
  toClientError,
  WrappedSource,
  type Exchange,
  type GatewayError,
  type MaybePromise,
  type Source,
} from '../../src/plugin/index.ts';
import type { Item } from './expand.ts';

/** Keeps a response; a promise while another process does. */
export type Keep = (response: Item) => MaybePromise<void>;

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
    this.#pieces?.push(bytes);
    if (this.#last) super.push(this.#last);
    this.#last = bytes;
  }

  override end(): void {
    const response = this.#pieces && parsed(Buffer.concat(this.#pieces, this.#size).toString('utf8'));
    const leave = (): void => {
      if (this.#last) super.push(this.#last);
      super.end();
    };
    const keeping = isObject(response) ? this.#keep(response) : undefined;
    if (keeping) void keeping.then(leave);
    else leave();
  }
}

/** Only the first events and the last one have a response. A text cannot have this: its quotes are escaped. */
const HAS_RESPONSE = '"response":';
const LAST: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete', 'response.failed']);

/**
 * Passes a stream on and keeps its response before the last event leaves, so that the client can continue it at once. A stream
 * that breaks is kept as what it is: failed, or cancelled where the client left.
 */
export class KeptStream extends WrappedSource {
  readonly #exchange: Exchange;
  readonly #keep: Keep;
  /** The response as it began. Undefined before, and once the end is kept. */
  #begun: Item | undefined;
  /** What waits until the response is kept. */
  #held: (() => void)[] | undefined;

  constructor(source: Source, exchange: Exchange, keep: Keep) {
    super(source);
    this.#exchange = exchange;
    this.#keep = keep;
  }

  override cancel(reason: GatewayError): void {
    this.#held = undefined;
    if (this.#begun) void this.#keep({ ...this.#begun, status: 'cancelled' });
    this.#begun = undefined;
    super.cancel(reason);
  }

  override push(bytes: Buffer): void {
    if (bytes.includes(HAS_RESPONSE)) this.#read(bytes);
    this.#pass(() => super.push(bytes));
  }

  override end(): void {
    this.#pass(() => super.end());
  }

  override fail(error: GatewayError): void {
    const begun = this.#begun;
    this.#begun = undefined;
    if (begun) this.#hold(this.#keep({ ...begun, status: 'failed', error: this.#reported(error) }));
    this.#pass(() => super.fail(error));
  }

  #read(bytes: Buffer): void {
    for (const { type, response } of eventsOf(bytes)) {
      if (!isObject(response)) continue;
      if (!LAST.has(type)) this.#begun ??= response;
      else {
        this.#begun = undefined;
        this.#hold(this.#keep(response));
      }
    }
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
    const [last] = eventsOf(Buffer.from(event));
    return isObject(last?.response) ? last.response['error'] : null;
  }
}

interface StreamEvent {
  readonly type?: unknown;
  readonly response?: unknown;
}

/** The events with a response in whole wire events. */
function eventsOf(bytes: Buffer): StreamEvent[] {
  return bytes
    .toString('utf8')
    .split(/\r?\n/)
    .flatMap((line) => {
      if (!line.startsWith('data:') || !line.includes(HAS_RESPONSE)) return [];
      const event = parsed(line.slice('data:'.length));
      return isObject(event) ? [event] : [];
    });
}

/** The response in the last event of a whole stream. */
export const lastResponse = (stream: Buffer): unknown =>
  eventsOf(stream).findLast(({ type }) => LAST.has(type))?.response;

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
