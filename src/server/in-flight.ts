import type { ServerResponse } from 'node:http';
import { GatewayError, type Exchange, type ReplyEnd } from '../plugin/index.ts';

export interface InFlightLimits {
  /** Requests at once. */
  readonly inFlight: number;
  /** Bytes of their bodies, and of replies that are held. */
  readonly inFlightBytes: number;
}

/** What writes a reply that has begun to leave. */
export interface LeavingReply {
  /** All of the reply is written, and waits for its client to take it. */
  readonly leaving: boolean;
  abort(reason: GatewayError): void;
  /** Nobody is there to write to. */
  clientLeft(): void;
}

/** What a request brings when it comes. */
export interface Arrival {
  readonly exchange: Exchange;
  readonly res: ServerResponse;
  /** Refused already, for what it asks: it takes nobody's place. */
  readonly refused: boolean;
  /** Ends the exchange where nobody else does any more. */
  readonly settle: (end: ReplyEnd) => void;
}

interface Running extends Arrival {
  readonly counted: boolean;
  writer: LeavingReply | undefined;
  bytes: number;
}

/** What is full now may have room soon; who stops has others to take its place. */
const RETRY_AFTER_MS = 1000;

/**
 * Every request under way, from its head until the end of its reply, and the bytes of its body. They count as long: undici keeps
 * what it has sent until the upstream's reply has ended. What is held of its reply before it may leave counts with them. Bytes belong to a request and leave with it, so that nothing can forget
 * them. Outlives snapshots; the limits are those of the latest one.
 */
export class InFlight {
  readonly #running = new Map<Exchange, Running>();
  #limits: InFlightLimits = { inFlight: Infinity, inFlightBytes: Infinity };
  #counted = 0;
  #bytes = 0;
  #draining = false;
  #cutBy: GatewayError | undefined;
  #onEmpty: (() => void) | undefined;

  get size(): number {
    return this.#running.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The gateway is being stopped: connections end with the reply they carry. */
  get draining(): boolean {
    return this.#draining;
  }

  /** Some reply is written to its end and has not left yet. */
  get leaving(): boolean {
    return this.#running.values().some(({ writer }) => writer?.leaving ?? false);
  }

  /** Requests whose reply has not begun to leave. */
  *waiting(): Generator<Exchange> {
    for (const { writer, exchange } of this.#running.values()) if (!writer) yield exchange;
  }

  apply(limits: InFlightLimits): void {
    this.#limits = limits;
  }

  /** Gives what a request is refused with; it is under way all the same, until its refusal has left. */
  enter(arrival: Arrival): GatewayError | undefined {
    const refusal = this.#cutBy ?? (arrival.refused ? undefined : this.#refusal());
    const counted = !arrival.refused && !refusal;
    if (counted) this.#counted += 1;
    this.#running.set(arrival.exchange, { ...arrival, counted, writer: undefined, bytes: 0 });
    return refusal;
  }

  /** Room for so many more bytes of a request's body. False: there is none, and nothing was taken. */
  reserve(exchange: Exchange, bytes: number): boolean {
    const request = this.#running.get(exchange);
    // Who is not under way any more cannot give back what it takes.
    if (!request || this.#bytes + bytes > this.#limits.inFlightBytes) return false;
    request.bytes += bytes;
    this.#bytes += bytes;
    return true;
  }

  /**
   * So many more bytes of its reply are held, or fewer. They are there already, so they count whether there is room or not: it is
   * the next body that is refused. False: there is none, and what can leave should.
   */
  hold(exchange: Exchange, bytes: number): boolean {
    const request = this.#running.get(exchange);
    if (request) {
      request.bytes += bytes;
      this.#bytes += bytes;
    }
    return this.#bytes <= this.#limits.inFlightBytes;
  }

  /** Its reply begins to leave. */
  replies(exchange: Exchange, writer: LeavingReply): void {
    const request = this.#running.get(exchange);
    if (!request) return;
    request.writer = writer;
    if (this.#cutBy) writer.abort(this.#cutBy);
  }

  /** False: it had left before. */
  leave(exchange: Exchange): boolean {
    const request = this.#running.get(exchange);
    if (!request) return false;
    this.#bytes -= request.bytes;
    this.#running.delete(exchange);
    if (request.counted) this.#counted -= 1;
    if (this.#running.size === 0) this.#onEmpty?.();
    return true;
  }

  /** Ends a request whose reply has not begun; the chain answers it with the reason. False: there is none. */
  interrupt(res: ServerResponse, reason: GatewayError): boolean {
    // Looked for, since it happens to few: an index would be kept for every request.
    const request = [...this.#running.values()].find((one) => one.res === res);
    if (!request || request.writer) return false;
    request.exchange.cancellation.cancel(reason);
    return true;
  }

  drain(): void {
    this.#draining = true;
  }

  /** Resolves when nothing is under way. */
  empty(): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve();
    return new Promise((resolve) => (this.#onEmpty = resolve));
  }

  /** Ends all that is under way, each in the way that is left to it, and whatever still comes. Gives how many were cut. */
  cut(): number {
    const reason = (this.#cutBy = new GatewayError('shutting_down', 'The gateway is being stopped. Send it again.', {
      retryAfterMs: RETRY_AFTER_MS,
    }));
    const cut = [...this.#running.values()];
    for (const { writer, exchange } of cut) {
      if (writer) writer.abort(reason);
      else exchange.cancellation.cancel(reason);
    }
    return cut.length;
  }

  /** The connections are gone: what is still under way has nobody to answer, but its end has to be told. */
  abandon(): void {
    const error = this.#cutBy;
    for (const { writer, settle } of this.#running.values()) {
      if (writer) writer.clientLeft();
      else settle({ state: 'failed', status: 503, bytes: 0, error });
    }
  }

  #refusal(): GatewayError | undefined {
    if (this.#counted < this.#limits.inFlight) return undefined;
    const message = `The gateway has ${this.#counted} requests under way, as many as it may (limits.in_flight).`;
    return new GatewayError('busy', message, { retryAfterMs: RETRY_AFTER_MS });
  }
}
