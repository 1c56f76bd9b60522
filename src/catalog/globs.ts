/** Patterns in which `*` stands for any text, read once. No regular expressions: matching is linear whatever the pattern. */
export class Globs {
  readonly #literals: ReadonlySet<string>;
  readonly #patterns: readonly (readonly string[])[];

  constructor(patterns: readonly string[]) {
    this.#literals = new Set(patterns.filter((pattern) => !pattern.includes('*')));
    this.#patterns = patterns.filter((pattern) => pattern.includes('*')).map((pattern) => pattern.split('*'));
  }

  /** Those without a `*`. */
  get literals(): Iterable<string> {
    return this.#literals;
  }

  /** Without a `*`, exactly this text. */
  hasLiteral(text: string): boolean {
    return this.#literals.has(text);
  }

  matches(text: string): boolean {
    return this.#literals.has(text) || this.#patterns.some((pieces) => fits(pieces, text));
  }
}

/** The pieces between the stars stand in the text in order: the first at its start, the last at its end. */
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
