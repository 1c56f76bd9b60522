// How the admin listener's records have values. JSON has no NaN and no infinity.

export function finite<V extends number | boolean | undefined>(
  value: V,
  notFinite: null | undefined,
): V | null | undefined {
  return typeof value === 'number' && !Number.isFinite(value) ? notFinite : value;
}

/** Rounded to microseconds. */
export const roundedMs = (ms: number | undefined, notFinite: null | undefined): number | null | undefined =>
  ms === undefined ? undefined : finite(Math.round(ms * 1000) / 1000, notFinite);

export const isoTime = (ms: number | undefined, _notFinite?: null): string | undefined =>
  ms !== undefined && Number.isFinite(ms) ? new Date(ms).toISOString() : undefined;
