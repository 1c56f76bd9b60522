import type { FieldTable } from '../formats/fields/field-table.ts';

type Path = readonly string[];

const toSnake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const toCamel = (name: string): string => name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

const beginsWith = (path: Path, prefix: Path): boolean => prefix.every((key, index) => path[index] === key);

/** Both spellings of every key of a path: it has one for each choice, itself first. */
function inBothCases(path: Path): Path[] {
  let spelled: Path[] = [[]];
  for (const key of path) {
    const names = new Set([key, toCamel(key), toSnake(key)]);
    spelled = spelled.flatMap((before) => [...names].map((name) => [...before, name]));
  }
  return spelled;
}

/** How else a body of an API may write a field: the same field in the other case, and the fields that say the same. */
export class Spellings {
  readonly #synonyms: readonly (readonly Path[])[];
  readonly #bothCases: boolean;

  constructor({ synonyms, bothCases }: Pick<FieldTable, 'synonyms' | 'bothCases'>) {
    this.#synonyms = synonyms.map((group) => group.map((path) => path.split('.')));
    this.#bothCases = bothCases;
  }

  /** The field itself in every spelling, its own first. */
  of(path: Path): readonly Path[] {
    return this.#bothCases ? inBothCases(path) : [path];
  }

  /** Other fields that say the same as the one at `path`, as one around it or as one inside it, in every spelling. */
  synonymsOf(path: Path): readonly Path[] {
    const own = this.of(path);
    const overlaps = (one: Path): boolean =>
      own.some((spelling) => beginsWith(spelling, one) || beginsWith(one, spelling));
    return this.#synonyms
      .filter((group) => group.some(overlaps))
      .flatMap((group) => group.filter((one) => !overlaps(one)))
      .flatMap((one) => this.of(one));
  }
}

const NONE = new Spellings({ synonyms: [], bothCases: false });
const known = new WeakMap<FieldTable, Spellings>();

export function spellingsOf(table: FieldTable | undefined): Spellings {
  if (!table) return NONE;
  let spellings = known.get(table);
  if (!spellings) known.set(table, (spellings = new Spellings(table)));
  return spellings;
}
