import type { Edit } from '../../src/plugin/index.ts';
import type { KeyPath, Spellings } from '../../src/core/kernel/index.ts';
import { SpelledFields, type Fields } from './spelled-fields.ts';

/** One field that a target sets or deletes. */
export interface FieldChange {
  readonly edit: Edit;
  /** Fields with the same meaning, which must be deleted when the edit is applied. */
  readonly synonyms: readonly KeyPath[];
}

/** Changes to the fields of one object. */
export class ChangeSet {
  /** Applied only when the request omits the field; null counts as omitted, as in OpenAI's API. */
  readonly defaults: readonly FieldChange[];
  readonly overrides: readonly FieldChange[];
  /** Fields that are deleted regardless of their value. */
  readonly dropped: ReadonlySet<string>;

  constructor(defaults: readonly FieldChange[], overrides: readonly FieldChange[], dropped: ReadonlySet<string>) {
    this.defaults = defaults;
    this.overrides = overrides;
    this.dropped = dropped;
  }

  get isEmpty(): boolean {
    return this.defaults.length + this.overrides.length === 0;
  }

  /** @param place the path of a field in the object; undefined: the field is not in it */
  filtered(place: (path: KeyPath) => KeyPath | undefined): ChangeSet {
    const inside = (changes: readonly FieldChange[]): readonly FieldChange[] =>
      changes.flatMap(({ edit, synonyms }) => {
        const path = place(edit.path);
        if (path === undefined) return [];
        return [{ edit: { ...edit, path }, synonyms: synonyms.flatMap((one) => [place(one) ?? []].filter(isPath)) }];
      });
    return new ChangeSet(inside(this.defaults), inside(this.overrides), this.dropped);
  }
}

const isPath = (path: KeyPath): boolean => path.length > 0;

/** A body, or an object inside one. */
interface Editable<T> extends Fields {
  edit(edits: readonly Edit[]): T;
}

export function applySet<T extends Editable<T>>(subject: T, set: ChangeSet, spellings: Spellings): T {
  const { defaults, overrides, dropped } = set;
  const requestFields = new SpelledFields(subject, spellings);
  const isKept = (path: KeyPath): boolean =>
    requestFields.spellingsIn(path).some((present) => !dropped.has(present.join('.')));
  const filled = subject.edit(
    defaults.flatMap(({ edit, synonyms }) =>
      requestFields.spellingsIn(edit.path).length > 0 || synonyms.some(isKept)
        ? []
        : [{ ...edit, path: requestFields.nearest(edit.path) }],
    ),
  );
  const fields = new SpelledFields(filled, spellings);
  return filled.edit(
    overrides.flatMap(({ edit, synonyms }) => {
      const path = fields.nearest(edit.path);
      const present = [edit.path, ...synonyms].flatMap((field) => fields.spellingsIn(field));
      const replaced = present.filter((other) => !isSame(other, path));
      return [...replaced.map((other): Edit => ({ ...edit, path: other, value: undefined })), { ...edit, path }];
    }),
  );
}

export const isSame = (one: KeyPath, other: KeyPath): boolean =>
  one.length === other.length && one.every((key, index) => key === other[index]);
