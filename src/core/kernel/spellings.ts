import type { FieldTable } from '../../formats/fields/field-table.ts';
import type { SharedName } from '../../formats/fields/shared-parameters.ts';
import { FieldNames } from './body/field-names.ts';
import { toCamel, toSnake } from '../../formats/json/field-names.ts';

/** The keys that lead to a field, from the outermost object. */
export type KeyPath = readonly string[];

/** Alternative spellings of a field in an API's bodies: in the other case convention, and synonyms. */
export class Spellings {
  readonly #synonyms: readonly (readonly KeyPath[])[];
  readonly #bothCases: boolean;
  readonly #lifted: readonly string[];
  readonly #shared: FieldTable['shared'];

  constructor({
    shared,
    synonyms,
    bothCases,
    lifted,
  }: Pick<FieldTable, 'shared' | 'synonyms' | 'bothCases' | 'lifted'>) {
    this.#shared = shared;
    this.#synonyms = synonyms.map((group) => group.map((path) => path.split('.')));
    this.#bothCases = bothCases;
    this.#lifted = lifted;
  }

  /** All spellings of one key, its own first. Those of a path are never listed: 20 keys have a million. */
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

  /** Other fields with the same meaning as the one at `path`: by another name, or inside a lifted object. */
  synonymsOf(path: KeyPath): readonly KeyPath[] {
    const named = this.#namesOf(path);
    // A lifted object overrides the top level, not the reverse.
    const objects = this.#lifted.filter((object) => !this.beginsWith(path, [object]));
    return [...named, ...objects.flatMap((object) => [path, ...named].map((one) => [object, ...one]))];
  }

  /** The names that the parameter at `path` has in all APIs. Undefined: it is none that several APIs have. */
  sharedName(path: KeyPath): SharedName | undefined {
    return this.#shared?.get(path.map(toSnake).join('.'));
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

/** The paths in every spelling of an API's bodies, up to the first object whose keys the caller chooses. */
export function namesOf(paths: Iterable<KeyPath>, table: FieldTable | undefined): FieldNames {
  const spellings = spellingsOf(table);
  const maps = (table?.freeMaps ?? []).filter((place) => !place.includes('[]')).map((place) => place.split('.'));
  const freeMaps = [...maps, ...(table?.lifted ?? []).flatMap((object) => maps.map((place) => [object, ...place]))];
  const all: KeyPath[] = [];
  for (const path of paths) {
    for (const field of [path, ...spellings.synonymsOf(path), ...(spellings.sharedName(path)?.others ?? [])]) {
      const map = freeMaps.find((place) => spellings.beginsWith(field, place));
      // The caller chooses a map's keys, which may differ only in case.
      all.push(map ?? field);
    }
  }
  return new FieldNames(all, (key) => spellings.ofKey(key));
}
