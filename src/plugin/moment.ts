/** `2027-01-01`, or RFC 3339. */
const MOMENT = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/**
 * Milliseconds since 1970; undefined when the text is not a valid date. `Date.parse` alone accepts `5` as a month of
 * 2001 and reads the 30th of February as the 2nd of March.
 */
export function readMoment(text: string): number | undefined {
  if (!MOMENT.test(text) || !isDay(text.slice(0, 10))) return undefined;
  const moment = Date.parse(text);
  return Number.isNaN(moment) ? undefined : moment;
}

function isDay(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}
