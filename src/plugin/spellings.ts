import type { FieldTable } from '../formats/fields/field-table.ts';

/** The keys that lead to a field, from the outermost object. */
export type KeyPath = readonly string[];

const toSnake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const toCamel = (name: string): string => name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** How else a body of an API may write a field: the same field in the other case, and the fields that say the same. */
export class Spellings {
  readonly #synonyms: readonly (readonly KeyPath[])[];
  readonly #bothCases: boolean;
  readonly #lifted: readonly string[];

  constructor({ synonyms, bothCases, lifted }: Pick<FieldTable, 'synonyms' | 'bothCases' | 'lifted'>) {
    this.#synonyms = synonyms.map((group) => group.map((path) => path.split('.')));
    this.#bothCases = bothCases;
    this.#lifted = lifted;
  }

  /**
   * One key in every spelling, its own first. Paths have one spelling for each choice of keys, so they are never listed: 20 keys have a
   * million. Code that needs the spellings of a path walks them key by key, along what a body has.
   */
  ofKey(key: string): readonly string[] {
    return this.#bothCases ? [...new Set([key, toCamel(key), toSnake(key)])] : [key];
  }

  /** Whether the path leads to `prefix` or into it, in any spelling. */
  beginsWith(path: KeyPath, prefix: KeyPath): boolean {
    return path.length >= prefix.length && this.overlaps(path, prefix);
  }

  /** Whether one of the two paths leads to the other one or into it, in any spelling. */
  overlaps(path: KeyPath, other: KeyPath): boolean {
    return path.every((key, index) => index >= other.length || this.ofKey(key).includes(other[index]!));
  }

  /** Other fields that say the same as the one at `path`, as one around it or as one inside it: by another name, or in a lifted object. */
  synonymsOf(path: KeyPath): readonly KeyPath[] {
    const named = this.#namesOf(path);
    // The lifted object lies over the top level, not the other way round.
    const objects = this.#lifted.filter((object) => !this.beginsWith(path, [object]));
    return [...named, ...objects.flatMap((object) => [path, ...named].map((one) => [object, ...one]))];
  }

  #namesOf(path: KeyPath): readonly KeyPath[] {
    return this.#synonyms
      .filter((group) => group.some((one) => this.overlaps(path, one)))
      .flatMap((group) => group.filter((one) => !this.overlaps(path, one)));
  }
}

const NONE = new Spellings({ synonyms: [], bothCases: false, lifted: [] });
const known = new WeakMap<FieldTable, Spellings>();

export function spellingsOf(table: FieldTable | undefined): Spellings {
  if (!table) return NONE;
  let spellings = known.get(table);
  if (!spellings) known.set(table, (spellings = new Spellings(table)));
  return spellings;
}
