import type { ServerResponse } from 'node:http';
import { GatewayError, type Exchange, type ReplyEnd } from '../../plugin/index.ts';
import { Room, type Admission, type RoomSetup } from './capacity.ts';
import { RETRY_AFTER_MS, type InFlightLimits } from './shares.ts';

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
  readonly place: Admission;
  writer: LeavingReply | undefined;
}

export interface LoadLimits extends InFlightLimits {
  /** Requests of one connection that are served at once. */
  readonly pipelined: number;
}

const GONE = new GatewayError('client_closed', 'The request has ended.');

/**
 * Every request under way, from its head until the end of its reply, and the bytes of its body. They count as long: undici keeps
 * what it has sent until the upstream's reply has ended. What is held of its reply before it may leave counts with them. Bytes belong
 * to a request and leave with it, so that nothing can forget them. Outlives snapshots; the limits are those of the latest one.
 *
 * A request is admitted in two steps: `enter` takes a place when its head is there, `admit` checks its caller's share of all places.
 */
export class InFlight {
  readonly #running = new Map<Exchange, Running>();
  readonly #room: Room;
  #pipelined = Infinity;
  #draining = false;
  #cutBy: GatewayError | undefined;
  #onEmpty: (() => void) | undefined;

  constructor(setup: RoomSetup = {}) {
    this.#room = new Room(setup);
  }

  get size(): number {
    return this.#running.size;
  }

  get bytes(): number {
    return this.#room.bytes;
  }

  /** Callers with a key that have requests under way. */
  get keys(): number {
    return this.#room.keys;
  }

  /** Requests of one connection that are served at once. */
  get pipelined(): number {
    return this.#pipelined;
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

  /** Responses whose reply has begun to leave. */
  *replying(): Generator<ServerResponse> {
    for (const { writer, res } of this.#running.values()) if (writer) yield res;
  }

  apply(limits: LoadLimits): void {
    this.#room.apply(limits);
    this.#pipelined = limits.pipelined;
  }

  /** Gives what a request is refused with; it is under way all the same, until its refusal has left. */
  enter(arrival: Arrival): GatewayError | undefined {
    const place = this.#room.open(arrival);
    const refusal = this.#cutBy ?? (arrival.refused ? undefined : this.#room.enter(place));
    this.#running.set(arrival.exchange, { ...arrival, place, writer: undefined });
    return refusal;
  }

  /** The caller is known. Gives what the request is refused with: then it takes no place any more. */
  admit(exchange: Exchange): GatewayError | undefined {
    const request = this.#running.get(exchange);
    return request && this.#room.admit(request.place);
  }

  /** Takes room for so many more bytes of a request's body, or gives what it is refused with and takes none. */
  reserve(exchange: Exchange, bytes: number): GatewayError | undefined {
    const request = this.#running.get(exchange);
    // A request that has ended could not give back what it takes.
    return request ? this.#room.reserve(request.place, bytes) : GONE;
  }

  /**
   * So many more bytes of its reply are held, or fewer. They are there already, so they count whether there is room or not: it is
   * the next body that is refused. False: there is none, and what can leave should.
   */
  hold(exchange: Exchange, bytes: number): boolean {
    return this.#room.hold(this.#running.get(exchange)?.place, bytes);
  }

  /** Its reply begins to leave. */
  replies(exchange: Exchange, writer: LeavingReply): void {
    const request = this.#running.get(exchange);
    if (!request) return;
    request.writer = writer;
    // Refused before its caller was known: clients without a key that do not read take no place from those with one.
    if (!request.place.admitted) this.#room.release(request.place);
    if (this.#cutBy) writer.abort(this.#cutBy);
  }

  /** False: it had left before. */
  leave(exchange: Exchange): boolean {
    const request = this.#running.get(exchange);
    if (!request) return false;
    this.#room.release(request.place);
    this.#running.delete(exchange);
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
}
