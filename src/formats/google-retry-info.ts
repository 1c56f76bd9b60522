import { isObject, objectOf, listOf, numberOf, stringOf } from './json/object.ts';

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
