/** An IANA name. Intl reads offsets such as `+02:00`, too, but an offset has no summer time. */
export function isZone(name: string): boolean {
  if (/^[+-]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

export const zones = (): readonly string[] => [...Intl.supportedValuesOf('timeZone'), 'UTC'];
