import type { CatalogFile } from '../../../schemas/types.generated.ts';

const WILDCARD = '*';

export const isWildcard = (name: string): boolean => name.endsWith(WILDCARD);

interface FoundAlias<T> {
  /** Its name in the settings: the name itself, or a wildcard such as `openai/*`. */
  readonly listed: string;
  readonly alias: T;
  /** The part of the name that takes the place of the star. Undefined for an exact alias. */
  readonly rest: string | undefined;
}

/** Aliases by name: the exact name, then the wildcard with the longest text before its star. */
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

/** The target or the config of an alias, one of the two, and the facts that lists of models give of it. */
export interface Alias {
  /** A wildcard ends with `*`. */
  readonly name: string;
  /** `@slug/model`; of a wildcard with `*` at its end. */
  readonly target: string | undefined;
  readonly config: string | undefined;
  /** Of a wildcard undefined without one: each of its names shows itself. */
  readonly displayName: string | undefined;
  readonly context: number | undefined;
  readonly maxOutput: number | undefined;
  readonly efforts: readonly string[] | undefined;
  readonly hidden: boolean;
}

/** The aliases of catalog.yaml. No alias stands for another one. */
export class Aliases extends AliasNames<Alias> {
  readonly all: readonly Alias[];

  constructor(all: readonly Alias[]) {
    super(all.map((alias) => [alias.name, alias]));
    this.all = all;
  }
}

export const compileAliases = ({ aliases = {} }: CatalogFile): Aliases =>
  new Aliases(
    Object.entries(aliases).map(
      ([name, { target, config, display_name: displayName, max_output: maxOutput, ...more }]): Alias => ({
        name,
        target,
        config,
        displayName,
        context: more.context,
        maxOutput,
        efforts: more.efforts,
        hidden: more.hidden ?? false,
      }),
    ),
  );
