/** Whole numbers of sixteen digits and more, where doubles begin to have gaps. */
const LONG_NUMBERS = /(?<![\w."\\-])-?\d{16,}(?![.\deE])/g;

/**
 * True where a whole number of a JSON text is another one once it is parsed and written again. `value` is the parsed text: it
 * tells numbers from digits inside strings, which the search for long ones cannot.
 */
export function losesDigits(text: string, value: unknown): boolean {
  const changed = (number: string) => String(Number(number)) !== number && BigInt(number) !== BigInt(Number(number));
  return (text.match(LONG_NUMBERS) ?? []).some(changed) && hasUnsafe(value);
}

function hasUnsafe(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasUnsafe);
}
