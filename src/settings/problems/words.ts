import { valueAt } from '../read/pointer.ts';

/** `a`, `a or b`, `a, b or c`. */
export function alternatives(words: readonly string[]): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

/** Alternatives as keys in backticks. */
export const eitherKey = (names: readonly string[]): string => alternatives(names.map((name) => `\`${name}\``));

const MOST_LISTED = 8;

/** Alternatives, cut off after the first few: a long list would hide the problem. */
export const shortList = (words: readonly string[]): string =>
  alternatives(words.length > MOST_LISTED ? [...words.slice(0, MOST_LISTED), '…'] : words);

/** The examples of a schema, which are clearer than its pattern. */
export function examplesOf(schema: unknown): string | undefined {
  const given = valueAt(schema, ['examples']);
  if (!Array.isArray(given) || given.length === 0) return undefined;
  return alternatives(
    given.map((example) => (typeof example === 'string' ? JSON.stringify(example) : String(example))),
  );
}
