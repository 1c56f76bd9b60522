/** Values as a failure shows them: JSON in one line, long ones reduced to the relevant part. */

const LONGEST = 100;
/** Characters of common context before the difference. */
const BEFORE = 24;

export const NOTHING = 'nothing';

export function show(value: unknown): string {
  return value === undefined ? NOTHING : cut(JSON.stringify(value));
}

/** Truncates both at the same place, so that the difference is visible. */
export function showBoth(expected: unknown, got: unknown): { readonly expected: string; readonly got: string } {
  if (typeof expected !== 'string' || typeof got !== 'string') return { expected: show(expected), got: show(got) };
  const [a, b] = [JSON.stringify(expected), JSON.stringify(got)];
  if (a.length <= LONGEST && b.length <= LONGEST) return { expected: a, got: b };
  const start = Math.max(0, firstDifference(a, b) - BEFORE);
  return { expected: cut(a, start), got: cut(b, start) };
}

function cut(text: string, from = 0): string {
  const start = text.slice(from);
  const shown = start.length > LONGEST ? `${start.slice(0, LONGEST)}… (${text.length} characters)` : start;
  return from === 0 ? shown : `…${shown}`;
}

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}
