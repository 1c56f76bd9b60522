import { GatewayError } from '../../plugin/index.ts';
import type { LoadLimit } from '../../record/error-types.ts';

export interface InFlightLimits {
  /** Requests in flight. */
  readonly inFlight: number;
  /** Requests of one key, once `OPEN_PART` of `inFlight` is taken. */
  readonly inFlightPerKey: number;
  /** Bytes of their bodies and of held replies. */
  readonly inFlightBytes: number;
  /** Bytes of one key, once `OPEN_PART` of `inFlightBytes` is taken. */
  readonly inFlightBytesPerKey: number;
}

/**
 * Up to this part of a limit every caller is admitted, so that one key alone may use an idle gateway. The rest is for
 * keys that hold less than their share: no key can keep the others out.
 */
export const OPEN_PART = 0.75;

/** The requests and bytes of one caller. All callers without a key are one caller. */
export interface Share {
  readonly key: string | undefined;
  requests: number;
  bytes: number;
}

/** The shares of callers that have requests in flight. */
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
