const WILDCARD = '*';

export const isWildcard = (name: string): boolean => name.endsWith(WILDCARD);

/** An alias that a name of a model leads to. */
export interface FoundAlias<T> {
  /** Its name in the settings: the name itself, or a wildcard such as `openai/*`. */
  readonly listed: string;
  readonly alias: T;
  /** The part of the name that takes the place of the star. Undefined for an exact alias. */
  readonly rest: string | undefined;
}

/**
 * Aliases by name. An exact name comes first, then the wildcard with the longest text before its star. A name that is exact costs one
 * look-up; any other one costs a look-up for each length of those texts, which names bound to 128.
 */
export class AliasNames<T> {
  readonly #exact: ReadonlyMap<string, FoundAlias<T>>;
  /** By the text before the star. */
  readonly #wildcards: ReadonlyMap<string, T>;
  /** The longest first. */
  readonly #lengths: readonly number[];

  constructor(aliases: Iterable<readonly [name: string, alias: T]>) {
    const all = [...aliases];
    const exact = all.filter(([name]) => !isWildcard(name));
    this.#exact = new Map(exact.map(([name, alias]) => [name, { listed: name, alias, rest: undefined }]));
    this.#wildcards = new Map(all.flatMap(([name, alias]) => (isWildcard(name) ? [[name.slice(0, -1), alias]] : [])));
    this.#lengths = [...new Set([...this.#wildcards.keys()].map(({ length }) => length))].toSorted((a, b) => b - a);
  }

  get isEmpty(): boolean {
    return this.#exact.size + this.#wildcards.size === 0;
  }

  /** A wildcard stands for one character at least, and never for a name that begins with `@slug/`. */
  find(name: string): FoundAlias<T> | undefined {
    const exact = this.#exact.get(name);
    if (exact !== undefined || name.startsWith('@')) return exact;
    for (const length of this.#lengths) {
      if (length >= name.length) continue;
      const before = name.slice(0, length);
      const alias = this.#wildcards.get(before);
      if (alias !== undefined) return { listed: before + WILDCARD, alias, rest: name.slice(length) };
    }
    return undefined;
  }
}

/** `@slug/model` for a name that an alias stands for: what the star stands for follows the target's text before its own star. */
export const targetOf = (target: string, rest: string | undefined): string =>
  rest === undefined ? target : target.slice(0, -1) + rest;
