import { isObject, objectOf, listOf, numberOf, stringOf } from './json/object.ts';

/** Google's status words (docs/protocols/errors.md#google-errors). The gateway writes the first word of a status. */
export const GOOGLE_STATUSES: readonly (readonly [number, ...string[]])[] = [
  [400, 'INVALID_ARGUMENT', 'FAILED_PRECONDITION', 'OUT_OF_RANGE'],
  [401, 'UNAUTHENTICATED'],
  [403, 'PERMISSION_DENIED'],
  [404, 'NOT_FOUND'],
  [409, 'ABORTED', 'ALREADY_EXISTS'],
  [429, 'RESOURCE_EXHAUSTED'],
  [499, 'CANCELLED'],
  [500, 'INTERNAL', 'UNKNOWN', 'DATA_LOSS'],
  [501, 'UNIMPLEMENTED'],
  [503, 'UNAVAILABLE'],
  [504, 'DEADLINE_EXCEEDED'],
];

/** The statuses by these words. */
export const STATUS_BY_GOOGLE: ReadonlyMap<string, number> = new Map(
  GOOGLE_STATUSES.flatMap(([status, ...words]) => words.map((word) => [word, status] as const)),
);

/**
 * The wait of google.rpc.RetryInfo among the details of an error, in milliseconds, rounded up: Google sends it in errors of all its
 * APIs, those with the formats of other vendors among them (docs/protocols/errors.md#retry-info). No other detail has a `retryDelay`.
 */
export function retryDelayOf(details: unknown): number | undefined {
  for (const detail of listOf(details) ?? []) {
    const delay = isObject(detail) ? duration(detail['retryDelay']) : undefined;
    if (delay !== undefined) return delay;
  }
  return undefined;
}

/** A protobuf Duration: `"3s"`, `"0.5s"`, or its object form, whose 64-bit seconds may be a string. */
function duration(value: unknown): number | undefined {
  const text = /^(\d+(?:\.\d+)?)s$/.exec(stringOf(value) ?? '')?.[1];
  if (text !== undefined) return Math.ceil(Number(text) * 1000);
  const { seconds, nanos } = objectOf(value) ?? {};
  const whole = numberOf(seconds) ?? (/^\d+$/.test(stringOf(seconds) ?? '') ? Number(seconds) : undefined);
  const fraction = numberOf(nanos);
  if (whole === undefined && fraction === undefined) return undefined;
  const ms = Math.ceil((whole ?? 0) * 1000 + (fraction ?? 0) / 1e6);
  return ms < 0 ? undefined : ms;
}
