import type { ServerResponse } from 'node:http';
import { GatewayError, type ReplyEnd } from '../../../../plugin/index.ts';
import type { Exchange } from '../../../kernel/index.ts';
import { LiveList, type Listed } from '../../../kernel/live-list.ts';
import { Room, type Admission, type RoomSetup } from './capacity.ts';
import { RETRY_AFTER_MS, type InFlightLimits } from './shares.ts';

/** The writer of a reply that has begun to leave. */
export interface LeavingReply {
  /** The whole reply is written and waits for its client to read it. */
  readonly leaving: boolean;
  abort(reason: GatewayError): void;
  /** Ends the writer: the client has disconnected. */
  clientLeft(): void;
  /** Called when the response has closed, written completely or not. */
  closed(): void;
}

export interface Arrival {
  readonly exchange: Exchange;
  readonly res: ServerResponse;
  /** The router has refused it already, so it takes no place. */
  readonly refused: boolean;
  /** Ends the exchange if no writer does. */
  readonly settle: (end: ReplyEnd) => void;
}

export interface InFlightEntry extends Arrival, Listed<InFlightEntry> {
  readonly place: Admission;
  writer: LeavingReply | undefined;
}

/** An exchange, which refers to its entry here while it is in flight: no table is searched for it. */
type Entrant = Exchange & { inFlight?: InFlightEntry | undefined };

export interface LoadLimits extends InFlightLimits {
  /** Requests of one connection that may be served at once. */
  readonly pipelined: number;
}

const GONE = new GatewayError('client_closed', 'The request has ended.');

/**
 * All requests in flight, from the head to the end of the reply, and the bytes they hold: of a body as long, because
 * undici keeps what it has sent until the upstream's reply has ended, and of a reply that has not begun to leave. Bytes
 * are released with their request, so that none can leak. Outlives snapshots. `enter` takes a place once the head has
 * been read, `admit` checks the caller's share of the places.
 */
export class InFlight {
  readonly #running = new LiveList<InFlightEntry>();
  readonly #room: Room;
  #pipelined = Infinity;
  /** The gateway is draining: each connection closes after its current reply. Set by `drain`. */
  draining = false;
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

  /** Number of requests in flight that hold a large body, received or announced. */
  get large(): number {
    return this.#room.large;
  }

  get keys(): number {
    return this.#room.keys;
  }

  get pipelined(): number {
    return this.#pipelined;
  }

  /** True if some reply is written completely and its client has not read all of it. */
  get leaving(): boolean {
    return this.#running.all().some(({ writer }) => writer?.leaving ?? false);
  }

  /** Requests whose reply has not begun to leave. */
  *waiting(): Generator<Exchange> {
    for (const { writer, exchange } of this.#running.all()) if (!writer) yield exchange;
  }

  /** Responses whose reply has begun to leave. */
  *replying(): Generator<ServerResponse> {
    for (const { writer, res } of this.#running.all()) if (writer) yield res;
  }

  apply(limits: LoadLimits): void {
    this.#room.apply(limits);
    this.#pipelined = limits.pipelined;
  }

  /** Takes a place, or returns the refusal. A refused request is in flight too, until its refusal has left. */
  enter(arrival: Arrival): GatewayError | undefined {
    const place = this.#room.open(arrival);
    const refusal = this.#cutBy ?? (arrival.refused ? undefined : this.#room.enter(place));
    const nowhere = { list: undefined, older: undefined, newer: undefined };
    const entry: InFlightEntry = { ...arrival, place, writer: undefined, ...nowhere };
    const exchange: Entrant = arrival.exchange;
    exchange.inFlight = entry;
    this.#running.add(entry);
    return refusal;
  }

  /** Checks the share of the caller, which is known now. A refused request gives its place back. */
  admit(exchange: Entrant): GatewayError | undefined {
    const request = exchange.inFlight;
    return request && this.#room.admit(request.place);
  }

  /**
   * Reserves bytes for a request's body, or returns the refusal and reserves none.
   * @param options.kept the request is not dropped for others although its body arrives slowly
   */
  reserve(exchange: Entrant, bytes: number, options?: { readonly kept: boolean }): GatewayError | undefined {
    const request = exchange.inFlight;
    // A request that has ended could not release them.
    return request ? this.#room.reserve(request.place, bytes, options) : GONE;
  }

  /** Counts held bytes of the reply, even beyond the limit; negative: releases. False: the limit is exceeded. */
  hold(exchange: Entrant, bytes: number): boolean {
    return this.#room.hold(exchange.inFlight?.place, bytes);
  }

  replies(exchange: Entrant, writer: LeavingReply): void {
    const request = exchange.inFlight;
    if (!request) return;
    request.writer = writer;
    // A request refused before its caller was known gives its place back: clients without a key that do not read their
    // replies would take places from callers with keys.
    if (!request.place.admitted) this.#room.release(request.place);
    if (this.#cutBy) writer.abort(this.#cutBy);
  }

  /** Removes the request. False: it was removed before. */
  leave(exchange: Entrant): boolean {
    const request = exchange.inFlight;
    if (!request) return false;
    this.#room.release(request.place);
    this.#running.delete(request);
    exchange.inFlight = undefined;
    if (this.#running.size === 0) this.#onEmpty?.();
    return true;
  }

  /** Cancels a request whose reply has not begun; the chain replies with the reason. False: there is none. */
  interrupt(res: ServerResponse, reason: GatewayError): boolean {
    // A linear search, because this is rare: an index would be kept for every request.
    const request = this.#running.all().find((one) => one.res === res);
    if (!request || request.writer) return false;
    const { operation, cancellation } = request.exchange;
    // A file may take longer than `limits.body_time`. Its reader has a limit for the time without progress.
    if (reason.code === 'request_timeout' && operation?.body === 'multipart') return true;
    cancellation.cancel(reason);
    return true;
  }

  drain(): void {
    this.draining = true;
  }

  empty(): Promise<void> {
    return this.#running.size === 0 ? Promise.resolve() : new Promise((resolve) => (this.#onEmpty = resolve));
  }

  /** Aborts the replies that have begun and cancels the others; later requests are refused. Returns the number. */
  cut(): number {
    const message = 'The gateway is shutting down. Send the request again.';
    const reason = new GatewayError('shutting_down', message, { retryAfterMs: RETRY_AFTER_MS });
    this.#cutBy = reason;
    const cut = this.#running.all();
    for (const { writer, exchange } of cut) {
      if (writer) writer.abort(reason);
      else exchange.cancellation.cancel(reason);
    }
    return cut.length;
  }

  /** Settles the remaining requests, whose connections were closed: their listeners must learn of the end. */
  abandon(): void {
    const error = this.#cutBy;
    for (const { writer, settle } of this.#running.all()) {
      if (writer) writer.clientLeft();
      else settle({ state: 'failed', status: 503, bytes: 0, error });
    }
  }
}
