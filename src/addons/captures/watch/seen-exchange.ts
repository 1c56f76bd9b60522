import type { Attempt, Exchange, TryRecord } from '../../../core/kernel/index.ts';
import type { CallTap, TappedCall } from '../../../core/kernel/taps.ts';
import type { GatewayError, Reply, Sink, Source } from '../../../plugin/index.ts';
import type { CapturedExchange } from '../file/captured.ts';
import { Redaction, type TimedBytes } from './redaction.ts';
import { SeenCall } from './seen-call.ts';

/** The most bytes of one request, its calls and its replies together. */
const MAX_EXCHANGE_BYTES = 2 * 1024 * 1024;

/** A request that is watched: what it sends to upstreams, what they answer, and what its client gets. */
export class SeenExchange {
  readonly exchange: Exchange;
  readonly #now: () => number;
  readonly #room: (bytes: number) => boolean;
  readonly #calls: SeenCall[] = [];
  readonly #pieces: TimedBytes[] = [];
  #body: Buffer | undefined;
  #reply: Pick<Reply, 'status' | 'headers'> = { status: 0, headers: {} };
  #end: 'complete' | 'cut' = 'cut';
  #bytes = 0;
  #isTooLarge = false;

  /** @param room counts bytes of all requests; false: there are too many */
  constructor(exchange: Exchange, now: () => number, room: (bytes: number) => boolean) {
    this.exchange = exchange;
    this.#now = now;
    this.#room = room;
    this.#readBody();
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isTooLarge(): boolean {
    return this.#isTooLarge;
  }

  /** Forgets everything, and takes no more. */
  drop(): void {
    this.#isTooLarge = true;
    for (const call of this.#calls) call.drop();
    this.#calls.length = this.#pieces.length = 0;
    this.#body = undefined;
  }

  calling(attempt: Attempt, call: TappedCall, record: TryRecord): CallTap {
    const seen = new SeenCall({ attempt, call, record }, this.#now, this.#take);
    if (!this.#isTooLarge) this.#calls.push(seen);
    return seen;
  }

  replying(reply: Reply): Reply {
    this.#reply = { status: reply.status, headers: reply.headers };
    const { body } = reply;
    if (Buffer.isBuffer(body)) {
      this.#note(body);
      this.#end = 'complete';
      return reply;
    }
    // The head may still change until it is written: the writer gets the same one.
    return { ...reply, headers: reply.headers, body: this.#through(body) };
  }

  /** @param known secrets of the settings. Throws TooManyCredentials. */
  describe(
    known: readonly string[],
    record: { readonly state: string; readonly receivedAt: number },
  ): CapturedExchange {
    const { exchange } = this;
    const { request, caller, config, startedAt } = exchange;
    const calls = this.#calls;
    const bodies = [this.#body, ...calls.map(({ body }) => body)].filter((one) => one !== undefined);
    const redaction = new Redaction(known, {
      own: [...calls.flatMap(({ secrets }) => secrets), exchange.upstreamToken?.reveal() ?? ''],
      headers: [request.headers, ...calls.map(({ call }) => call.headers)],
      bodies,
    });
    return {
      id: redaction.text(exchange.id),
      time: new Date(record.receivedAt).toISOString(),
      state: record.state,
      method: request.method,
      path: redaction.text(request.path),
      ...(caller?.keyId !== undefined && { key: caller.keyId }),
      ...(config && config.id !== '' && { config: config.id }),
      headers: redaction.headers(request.headers),
      body: this.#body ? redaction.bytes(this.#body) : null,
      calls: calls.map((call) => call.describe(startedAt, redaction)),
      reply: {
        status: this.#reply.status,
        headers: redaction.headers(this.#reply.headers),
        pieces: redaction.pieces(this.#pieces),
        end: this.#end,
      },
    };
  }

  /** Keeps the client's body, which the gateway releases with the first reply. Before a reply from the cache, only an outline of it may be left. */
  #readBody(): void {
    const { request, attempts } = this.exchange;
    const small = attempts.at(-1)?.body.original;
    const body = request.body?.original ?? (small && small.length === request.bodyBytes ? small : undefined);
    if (body && this.#take(body.length)) this.#body = body;
  }

  readonly #take = (bytes: number): boolean => {
    if (this.#isTooLarge) return false;
    this.#bytes += bytes;
    if (this.#room(bytes) && this.#bytes <= MAX_EXCHANGE_BYTES) return true;
    this.drop();
    return false;
  };

  #note(bytes: Buffer): void {
    if (this.#take(bytes.length))
      this.#pieces.push([Math.round(this.#now() - this.exchange.startedAt), Buffer.from(bytes)]);
  }

  #through(body: Source): Source {
    const seen = (sink: Sink): Sink => ({
      push: (bytes) => {
        this.#note(bytes);
        sink.push(bytes);
      },
      end: () => {
        this.#end = 'complete';
        sink.end();
      },
      fail: (error: GatewayError) => sink.fail(error),
    });
    return {
      open: (sink) => body.open(seen(sink)),
      pause: () => body.pause(),
      resume: () => body.resume(),
      cancel: (reason) => body.cancel(reason),
    };
  }
}
