import { GatewayError } from '../../../../plugin/index.ts';
import type { LoadLimit } from '../../../record/error-types.ts';

export interface InFlightLimits {
  readonly inFlight: number;
  /** Requests of one key, once `OPEN_PART` of `inFlight` is taken. */
  readonly inFlightPerKey: number;
  /** Bytes of their bodies and of held replies. */
  readonly inFlightBytes: number;
  /** Bytes of one key, once `OPEN_PART` of `inFlightBytes` is taken. */
  readonly inFlightBytesPerKey: number;
}

/** Up to this part of a limit every caller is admitted; the rest is for keys below their share. */
const OPEN_PART = 0.75;

/** The requests and bytes of one caller. All callers without a key are one caller. */
export interface Share {
  readonly key: string | undefined;
  requests: number;
  bytes: number;
}

export class Shares {
  readonly #byKey = new Map<string, Share>();
  readonly #keyless: Share = { key: undefined, requests: 0, bytes: 0 };

  of(key: string | undefined): Share {
    if (key === undefined) return this.#keyless;
    let share = this.#byKey.get(key);
    if (!share) this.#byKey.set(key, (share = { key, requests: 0, bytes: 0 }));
    return share;
  }

  forgetEmpty({ key, requests, bytes }: Share): void {
    if (key !== undefined && requests === 0 && bytes === 0) this.#byKey.delete(key);
  }

  get size(): number {
    return this.#byKey.size;
  }
}

/** @param all requests in flight; `own` are those of the caller. Both exclude the request being admitted. */
export function requestsExceed(
  { all, own }: { readonly all: number; readonly own: number },
  limits: InFlightLimits,
): LoadLimit | undefined {
  if (all >= limits.inFlight) return 'in_flight';
  return all >= limits.inFlight * OPEN_PART && own >= limits.inFlightPerKey ? 'in_flight_per_key' : undefined;
}

/**
 * A caller's only request may exceed the caller's share: a single body has its own limit, `limits.body`.
 * @param all bytes that would be held; `own` are those of the caller's other requests
 */
export function bytesExceed(
  { all, own }: { readonly all: number; readonly own: number },
  limits: InFlightLimits,
): LoadLimit | undefined {
  if (all > limits.inFlightBytes) return 'in_flight_bytes';
  const isOpen = all <= limits.inFlightBytes * OPEN_PART;
  return !isOpen && own >= limits.inFlightBytesPerKey ? 'in_flight_bytes_per_key' : undefined;
}

/** A full limit may have room soon, and another instance replaces a gateway that stops. */
export const RETRY_AFTER_MS = 1000;

const MESSAGES: Readonly<Record<LoadLimit, (limits: InFlightLimits, caller: string) => string>> = {
  in_flight: ({ inFlight }) => `The gateway has ${inFlight} requests in flight, the limit (limits.in_flight).`,
  in_flight_per_key: ({ inFlight, inFlightPerKey }, caller) =>
    `${caller} has used up its share of the requests in flight, ${inFlightPerKey} (limits.in_flight_per_key): three quarters of limits.in_flight (${inFlight}) are taken.`,
  in_flight_bytes: ({ inFlightBytes }) =>
    `The requests in flight leave no room for this body: together they may hold ${inFlightBytes} bytes (limits.in_flight_bytes).`,
  in_flight_bytes_per_key: ({ inFlightBytes, inFlightBytesPerKey }, caller) =>
    `${caller} has used up its share of the held bytes, ${inFlightBytesPerKey} (limits.in_flight_bytes_per_key): three quarters of limits.in_flight_bytes (${inFlightBytes}) are taken.`,
};

export function busy(limit: LoadLimit, limits: InFlightLimits, { key }: Pick<Share, 'key'>): GatewayError {
  const caller = key === undefined ? 'the caller without a key' : `the key ${key}`;
  const message = MESSAGES[limit](limits, caller);
  return new GatewayError('busy', message[0]!.toUpperCase() + message.slice(1), { retryAfterMs: RETRY_AFTER_MS });
}

export const tooSlow = (limit: LoadLimit, ms: number): GatewayError =>
  new GatewayError(
    'body_too_slow',
    `The body was still arriving after ${(ms / 1000).toFixed(1)} s, and other requests needed its room (limits.${limit}).`,
    { retryAfterMs: RETRY_AFTER_MS },
  );

/** Time that may be owed before work waits: bodies of a few megabytes wait only for turns of the event loop. */
const CREDIT_MS = 300;

/** Time that work on large bodies owes to all other work. */
export class OwedTime {
  #evenAt = 0;

  /** The earliest time, in clock milliseconds, at which further work may start. */
  get startAt(): number {
    return this.#evenAt - CREDIT_MS;
  }

  /** @param times the multiple of `tookMs` that other work gets */
  add(from: number, tookMs: number, times: number): void {
    this.#evenAt = Math.max(this.#evenAt, from) + tookMs * (1 + times);
  }
}

/** A request that meets a step waits for half of it on average. Up to this length, steps take half of the process. */
const SHORT_MS = 25;
const MOST_TIMES = 16;

/**
 * The multiple of its own time that a step owes grows with its length, as do the number of requests that meet it and
 * their wait. The limit keeps one body from holding up all others for minutes.
 */
export const timesOf = (tookMs: number): number => Math.min(MOST_TIMES, Math.max(1, tookMs / SHORT_MS));

const HALF_LIFE_MS = 10_000;
/** A key whose remaining use is below this is forgotten. */
const LEAST_MS = 1;

interface Use {
  ms: number;
  at: number;
}

const left = ({ ms, at }: Use, when: number): number => ms * 2 ** ((at - when) / HALF_LIFE_MS);

/** The time that each key has used recently, with a half-life of 10 s. */
export class RecentUse {
  readonly #keys = new Map<string, Use>();
  readonly #all: Use = { ms: 0, at: 0 };
  #forgotAt = 0;

  add(key: string, ms: number, at: number): void {
    const use = this.#keys.get(key) ?? { ms: 0, at };
    this.#keys.set(key, use);
    for (const one of [use, this.#all]) {
      one.ms = left(one, at) + ms;
      one.at = at;
    }
    if (at - this.#forgotAt >= HALF_LIFE_MS) this.#forget(at);
  }

  /** True if the key has used less than half of an equal share. */
  isSmall(key: string, at: number): boolean {
    const use = this.#keys.get(key);
    const keys = this.#keys.size + (use ? 0 : 1);
    return (use ? left(use, at) : 0) * keys * 2 < left(this.#all, at);
  }

  /** A key without recent use no longer counts in the equal shares. */
  #forget(at: number): void {
    this.#forgotAt = at;
    for (const [key, use] of this.#keys) if (left(use, at) < LEAST_MS) this.#keys.delete(key);
  }
}
