import type { Edit } from '../../src/plugin/index.ts';
import { type KeyPath, type Spellings, isObject } from '../../src/core/kernel/index.ts';

export interface FieldChange {
  readonly edit: Edit;
  /** Fields with the same meaning, which must be deleted when the edit is applied. */
  readonly synonyms: readonly KeyPath[];
}

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
        return [
          {
            edit: { ...edit, path },
            synonyms: synonyms.flatMap((one) => [place(one) ?? []].filter(({ length }) => length > 0)),
          },
        ];
      });
    return new ChangeSet(inside(this.defaults), inside(this.overrides), this.dropped);
  }
}

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

export interface Fields {
  has(key: string): boolean;
  value(key: string): unknown;
}

/** Finds the fields of a body by paths in any spelling. Its cost is bounded by the body, not by the path. */
class SpelledFields {
  readonly #body: Fields;
  readonly #spellings: Spellings;

  constructor(body: Fields, spellings: Spellings) {
    this.#body = body;
    this.#spellings = spellings;
  }

  /** A path that ends early at a value of another type is included, which validation rejects. A null value is not. */
  spellingsIn([key = '', ...inner]: KeyPath): KeyPath[] {
    return this.#inBody(key).flatMap((name) => this.#spellingsBelow(this.#body.value(name), [name], inner));
  }

  /** As far as the body has objects along the path: beside `generation_config` no `generationConfig` is created. */
  nearest(path: KeyPath): KeyPath {
    const [key = '', ...inner] = path;
    const own = deepest(this.#inBody(key).map((name) => [name, ...this.#ownBelow(this.#body.value(name), inner)]));
    return [...own, ...path.slice(own.length)];
  }

  #spellingsBelow(value: unknown, at: KeyPath, [key, ...inner]: KeyPath): KeyPath[] {
    if (value === undefined || value === null) return [];
    if (key === undefined) return [at];
    if (!isObject(value)) return [[...at, key, ...inner]];
    return this.#inObject(value, key).flatMap((name) => this.#spellingsBelow(value[name], [...at, name], inner));
  }

  #ownBelow(value: unknown, [key, ...inner]: KeyPath): KeyPath {
    if (key === undefined || !isObject(value)) return [];
    return deepest(this.#inObject(value, key).map((name) => [name, ...this.#ownBelow(value[name], inner)]));
  }

  #inBody(key: string): readonly string[] {
    return this.#spellings.ofKey(key).filter((name) => this.#body.has(name));
  }

  #inObject(object: object, key: string): readonly string[] {
    return this.#spellings.ofKey(key).filter((name) => Object.hasOwn(object, name));
  }
}

/** The longest path; the first of several equally long ones. */
const deepest = (paths: readonly KeyPath[]): KeyPath =>
  paths.reduce<KeyPath>((best, path) => (path.length > best.length ? path : best), []);
