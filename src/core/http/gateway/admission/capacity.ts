import type { ServerResponse } from 'node:http';
import { systemClock } from '../../../kernel/system-clock.ts';
import type { Clock, GatewayError } from '../../../../plugin/index.ts';
import type { Exchange } from '../../../kernel/index.ts';
import { LiveList, type Listed } from '../../../kernel/live-list.ts';
import type { LoadLimit } from '../../../record/error-types.ts';
import { HEAVY_BYTES } from './large-body-turns.ts';
import { busy, bytesExceed, requestsExceed, Shares, tooSlow, type InFlightLimits, type Share } from './shares.ts';

/** The part of the shared capacity that one request takes. */
export interface Admission extends Listed<Admission> {
  readonly exchange: Exchange;
  readonly res: ServerResponse;
  /** The request counts towards `limits.in_flight`. */
  counted: boolean;
  /** The caller is known, and its share was checked. */
  admitted: boolean;
  share: Share;
  bytes: number;
}

export interface RoomSetup {
  readonly clock?: Pick<Clock, 'now'>;
  /** Called when a limit refuses a request or a body, or drops a slow upload to make room. */
  readonly onFull?: (limit: LoadLimit, action: 'refused' | 'dropped') => void;
}

/** The capacity that dropping slow uploads would free: in total, and of the caller that needs room. */
interface Freed {
  readonly all: Amount;
  readonly own: Amount;
}

interface Amount {
  requests: number;
  bytes: number;
}

/** A body of 48 MiB takes less at 400 Mbit/s. A shorter time would drop ordinary uploads of a full gateway. */
const SLOW_MS = 1000;

type Exceeds = (freed: Freed) => LoadLimit | undefined;

const NOTHING: Freed = { all: { requests: 0, bytes: 0 }, own: { requests: 0, bytes: 0 } };

const UNLIMITED: InFlightLimits = {
  inFlight: Infinity,
  inFlightPerKey: Infinity,
  inFlightBytes: Infinity,
  inFlightBytesPerKey: Infinity,
};

/** The capacity for requests and their bytes, and each caller's share. It drops slow uploads first. */
export class Room {
  readonly #shares = new Shares();
  /** Requests whose bodies are being read, the oldest first. Bounded by the requests in flight. */
  readonly #uploads = new LiveList<Admission>();
  readonly #clock: Pick<Clock, 'now'>;
  readonly #onFull: NonNullable<RoomSetup['onFull']>;
  #limits = UNLIMITED;
  #requests = 0;
  #bytes = 0;
  #large = 0;

  constructor({ clock = systemClock, onFull = () => {} }: RoomSetup) {
    this.#clock = clock;
    this.#onFull = onFull;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get large(): number {
    return this.#large;
  }

  get keys(): number {
    return this.#shares.size;
  }

  apply(limits: InFlightLimits): void {
    this.#limits = limits;
  }

  open({ exchange, res }: Pick<Admission, 'exchange' | 'res'>): Admission {
    return {
      exchange,
      res,
      counted: false,
      admitted: false,
      share: this.#shares.of(undefined),
      bytes: 0,
      list: undefined,
      older: undefined,
      newer: undefined,
    };
  }

  /** The first step. The caller is not known yet, so its share is not checked. */
  enter(place: Admission): GatewayError | undefined {
    if (this.#requests >= this.#limits.inFlight) {
      const refusal = this.#refusal(place, ({ all }) =>
        requestsExceed({ all: this.#requests - all.requests, own: 0 }, this.#limits),
      );
      if (refusal) return refusal;
    }
    place.counted = true;
    place.share.requests += 1;
    this.#requests += 1;
    return undefined;
  }

  /** The second step. The caller is known. A refused request gives its place back. */
  admit(place: Admission): GatewayError | undefined {
    // A place that counts nowhere is never released from a share.
    if (!place.counted) return undefined;
    const share = this.#shares.of(place.exchange.caller?.keyId);
    if (place.admitted && share === place.share) return undefined;
    this.#move(place, share);
    place.admitted = true;
    const before = { all: this.#requests - 1, own: share.requests - 1 };
    if (!requestsExceed(before, this.#limits)) return undefined;
    const refusal = this.#refusal(place, ({ all, own }) =>
      requestsExceed({ all: before.all - all.requests, own: before.own - own.requests }, this.#limits),
    );
    if (refusal) this.release(place);
    return refusal;
  }

  /** Reserves the bytes of a body, or none of them. */
  reserve(place: Admission, bytes: number, { kept = false } = {}): GatewayError | undefined {
    if (!kept) this.#uploads.add(place);
    const after = { all: this.#bytes + bytes, own: place.share.bytes - place.bytes };
    if (bytesExceed(after, this.#limits)) {
      const refusal = this.#refusal(place, ({ all, own }) =>
        bytesExceed({ all: after.all - all.bytes, own: after.own - own.bytes }, this.#limits),
      );
      if (refusal) return refusal;
    }
    this.#take(place, bytes);
    return undefined;
  }

  /** Counts bytes that are in memory already; negative to give them back. False: the limit is exceeded. */
  hold(place: Admission | undefined, bytes: number): boolean {
    if (place) this.#take(place, bytes);
    return this.#bytes <= this.#limits.inFlightBytes;
  }

  release(place: Admission): void {
    this.#uploads.delete(place);
    this.#take(place, -place.bytes);
    if (place.counted) {
      place.counted = false;
      place.share.requests -= 1;
      this.#requests -= 1;
    }
    this.#shares.forgetEmpty(place.share);
  }

  #take(place: Admission, bytes: number): void {
    const wasLarge = place.bytes > HEAVY_BYTES;
    place.bytes += bytes;
    if (place.bytes > HEAVY_BYTES !== wasLarge) this.#large += wasLarge ? -1 : 1;
    place.share.bytes += bytes;
    this.#bytes += bytes;
  }

  #move(place: Admission, share: Share): void {
    share.requests += 1;
    share.bytes += place.bytes;
    place.share.requests -= 1;
    place.share.bytes -= place.bytes;
    this.#shares.forgetEmpty(place.share);
    place.share = share;
  }

  #refusal(place: Admission, exceeds: Exceeds): GatewayError | undefined {
    const limit = exceeds(NOTHING);
    if (limit === undefined || this.#dropSlow(place, limit, exceeds)) return undefined;
    this.#onFull(limit, 'refused');
    return busy(limit, this.#limits, place.share);
  }

  /** Oldest first, until no limit is exceeded; none if that is not enough. For a share, only the caller's own. */
  #dropSlow(place: Admission, limit: LoadLimit, exceeds: Exceeds): boolean {
    const freed = { all: { ...NOTHING.all }, own: { ...NOTHING.own } };
    const chosen: Admission[] = [];
    const ofCaller = limit === 'in_flight_per_key' || limit === 'in_flight_bytes_per_key';
    for (const slow of this.#slowUploads(this.#clock.now())) {
      if (slow === place || !slow.counted || (ofCaller && slow.share !== place.share)) continue;
      chosen.push(slow);
      add(freed.all, slow);
      if (slow.share === place.share) add(freed.own, slow);
      if (exceeds(freed) !== undefined) continue;
      for (const one of chosen) this.#drop(one, limit);
      return true;
    }
    return false;
  }

  /** This is also where completed bodies are removed: most complete before anything looks for slow ones. */
  *#slowUploads(now: number): Generator<Admission> {
    for (const upload of this.#uploads) {
      if (upload.res.req.complete) this.#uploads.delete(upload);
      else if (now - upload.exchange.startedAt < SLOW_MS) return;
      else yield upload;
    }
  }

  #drop(place: Admission, limit: LoadLimit): void {
    this.release(place);
    this.#onFull(limit, 'dropped');
    place.exchange.cancellation.cancel(tooSlow(limit, this.#clock.now() - place.exchange.startedAt));
  }
}

function add(to: Amount, { bytes }: Admission): void {
  to.requests += 1;
  to.bytes += bytes;
}
