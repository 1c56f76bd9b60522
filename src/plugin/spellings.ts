import type { FieldTable } from '../formats/fields/field-tables.ts';
import { toCamel, toSnake } from '../formats/json/field-names.ts';

/** The keys that lead to a field, from the outermost object. */
export type KeyPath = readonly string[];

/**
 * Alternative spellings of a field in an API's bodies: the same name in the other case convention, and fields with the
 * same meaning.
 */
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
   * All spellings of one key, its own first. A path has one spelling per combination of its keys' spellings, so they
   * are never listed: 20 keys have a million. Code that needs the spellings of a path checks key by key, following the
   * keys of the body.
   */
  ofKey(key: string): readonly string[] {
    return this.#bothCases ? [...new Set([key, toCamel(key), toSnake(key)])] : [key];
  }

  /** Whether the path equals `prefix` or lies inside it, in any spelling. */
  beginsWith(path: KeyPath, prefix: KeyPath): boolean {
    return path.length >= prefix.length && this.overlaps(path, prefix);
  }

  /** Whether one of the two paths equals the other or lies inside it, in any spelling. */
  overlaps(path: KeyPath, other: KeyPath): boolean {
    return path.every((key, index) => index >= other.length || this.ofKey(key).includes(other[index]!));
  }

  /**
   * Other fields with the same meaning as the one at `path`, as an enclosing field or as one inside it: by another
   * name, or inside a lifted object.
   */
  synonymsOf(path: KeyPath): readonly KeyPath[] {
    const named = this.#namesOf(path);
    // A lifted object overrides the top level, not the reverse.
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
