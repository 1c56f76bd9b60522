import { GatewayError } from '../../plugin/index.ts';
import type { LoadLimit } from '../../record/error-types.ts';

export interface InFlightLimits {
  /** Requests at once. */
  readonly inFlight: number;
  /** Requests of one key, once most of `inFlight` is taken. */
  readonly inFlightPerKey: number;
  /** Bytes of their bodies, and of replies that are held. */
  readonly inFlightBytes: number;
  /** Those of one key, once most of `inFlightBytes` is taken. */
  readonly inFlightBytesPerKey: number;
}

/**
 * Up to this part of a limit every caller is admitted, so that one key alone may use an idle gateway. The rest is for keys that
 * hold less than their share: no key can keep the others out.
 */
export const OPEN_PART = 0.75;

/** What the requests of one caller hold. Callers without a key are one caller. */
export interface Share {
  readonly key: string | undefined;
  requests: number;
  bytes: number;
}

/** The shares of callers with requests under way, and of no others. */
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

/** @param all requests under way, and `own` those of the caller, without the one that is asked about */
export function requestsExceed(
  { all, own }: { readonly all: number; readonly own: number },
  limits: InFlightLimits,
): LoadLimit | undefined {
  if (all >= limits.inFlight) return 'in_flight';
  return all >= limits.inFlight * OPEN_PART && own >= limits.inFlightPerKey ? 'in_flight_per_key' : undefined;
}

/**
 * The body of a caller's only request may pass the caller's share: a body has its own limit, `limits.body`.
 * @param all bytes that would be held, and `own` those that the caller's other requests hold
 */
export function bytesExceed(
  { all, own }: { readonly all: number; readonly own: number },
  limits: InFlightLimits,
): LoadLimit | undefined {
  if (all > limits.inFlightBytes) return 'in_flight_bytes';
  const isOpen = all <= limits.inFlightBytes * OPEN_PART;
  return !isOpen && own >= limits.inFlightBytesPerKey ? 'in_flight_bytes_per_key' : undefined;
}

/** A full limit may have room soon; a gateway that stops has others to take its place. */
export const RETRY_AFTER_MS = 1000;

const MESSAGES: Readonly<Record<LoadLimit, (limits: InFlightLimits, caller: string) => string>> = {
  in_flight: ({ inFlight }) => `The gateway has ${inFlight} requests under way, as many as it may (limits.in_flight).`,
  in_flight_per_key: ({ inFlight, inFlightPerKey }, caller) =>
    `${caller} has used up its share of the requests under way, ${inFlightPerKey} (limits.in_flight_per_key): three quarters of limits.in_flight (${inFlight}) are taken.`,
  in_flight_bytes: ({ inFlightBytes }) =>
    `The requests under way leave no room for the body of this one: together they may hold ${inFlightBytes} bytes (limits.in_flight_bytes).`,
  in_flight_bytes_per_key: ({ inFlightBytes, inFlightBytesPerKey }, caller) =>
    `${caller} has used up its share of the bytes that are held, ${inFlightBytesPerKey} (limits.in_flight_bytes_per_key): three quarters of limits.in_flight_bytes (${inFlightBytes}) are taken.`,
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
