import type { Report } from '../../../core/kernel/report.ts';
import { withSuggestion } from '../../../core/settings/checks/names.ts';

/** Reports a name that is not of the IANA database. For a city, such as `Berlin`, it suggests the name that ends with it. */
export function checkZone(name: string, report: Report): void {
  if (isZone(name)) return;
  const names = [...Intl.supportedValuesOf('timeZone'), 'UTC'];
  const city = names.find((zone) => zone.toLowerCase().endsWith(`/${name.toLowerCase()}`));
  report({
    path: [],
    message: `there is no time zone \`${name}\` in the IANA database, whose names are such as "Europe/Berlin"`,
    ...(city === undefined ? withSuggestion(name, names) : { suggestion: city }),
  });
}

/** An IANA name. Intl reads offsets such as `+02:00`, too, but an offset has no summer time. */
function isZone(name: string): boolean {
  if (/^[+-]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
