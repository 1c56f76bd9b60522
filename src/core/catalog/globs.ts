import { foldCase } from '../kernel/index.ts';

/** Compiled patterns in which `*` stands for any text. No regular expressions, so that matching is fast for every pattern. */
export class Globs {
  readonly #literals: ReadonlySet<string>;
  readonly #patterns: readonly (readonly string[])[];

  constructor(patterns: readonly string[]) {
    this.#literals = new Set(patterns.filter((pattern) => !pattern.includes('*')));
    this.#patterns = patterns.filter((pattern) => pattern.includes('*')).map((pattern) => pattern.split('*'));
  }

  /** The patterns without a `*`. */
  get literals(): Iterable<string> {
    return this.#literals;
  }

  hasLiteral(text: string): boolean {
    return this.#literals.has(text);
  }

  matches(text: string): boolean {
    return this.#literals.has(text) || this.#patterns.some((pieces) => fits(pieces, text));
  }
}

/** True when the text contains the pieces between the stars in order, the first at its start, the last at its end. */
function fits(pieces: readonly string[], text: string): boolean {
  const first = pieces[0] ?? '';
  const last = pieces.at(-1) ?? '';
  const end = text.length - last.length;
  if (first.length > end || !text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found < 0 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}

export const matches = (pattern: string, text: string): boolean =>
  pattern.includes('*') ? fits(pattern.split('*'), text) : pattern === text;

/** A name, or a pattern of names, as budgets and limits compare it: a server may take `OUT-50` and `"out-50 "` for `out-50`. */
export const comparedName = (name: string): string => foldCase(name.trim());
