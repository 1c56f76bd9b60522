import {
  mergeEdits,
  mergeLevels,
  type Edit,
  type RequestBody,
  type Spellings,
  type Target,
  type KeyPath,
} from '../../src/plugin/index.ts';
import { SpelledFields } from './spelled-fields.ts';

/** One field that a target sets or deletes. */
interface Change {
  readonly edit: Edit;
  /** Fields with the same meaning, which must be deleted when the edit is applied. */
  readonly synonyms: readonly KeyPath[];
}

/** The changes that a target makes to bodies of one API, compiled once. */
export interface Changes {
  /** Applied only when the request omits the field; null isKept as omitted, as in OpenAI's API. */
  readonly defaults: readonly Change[];
  readonly overrides: readonly Change[];
  /** Fields that are deleted regardless of their value. */
  readonly dropped: ReadonlySet<string>;
  readonly spellings: Spellings;
}

export function compileChanges(target: Target, spellings: Spellings): Changes {
  const { defaultParams = {}, overrideLevels, dropParams, path } = target;
  const drops = dropParams.map((field): Edit => ({ path: field, value: undefined, source: `${path} drop_params` }));
  const defaults = mergeEdits(defaultParams, `${path} default_params`).filter(({ value }) => value !== undefined);
  const overrides = mergeLevels(overrideLevels, `${path} override_params`);
  const change = (edit: Edit, own: readonly Edit[]): Change => {
    const others = spellings.synonymsOf(edit.path);
    return { edit, synonyms: others.filter((other) => !own.some((one) => spellings.overlaps(one.path, other))) };
  };
  return {
    defaults: defaults.map((edit) => change(edit, [])),
    // A field that the target itself sets is not deleted as a synonym.
    overrides: [
      ...overrides.map((edit) => change(edit, overrides)),
      ...drops.map((edit) => change(edit, [...overrides, ...defaults])),
    ],
    dropped: new Set(drops.map((edit) => edit.path.join('.'))),
    spellings,
  };
}

/** The body with the target's changes. */
export function applyChanges(body: RequestBody, { defaults, overrides, dropped, spellings }: Changes): RequestBody {
  const requestFields = new SpelledFields(body, spellings);
  const isKept = (path: KeyPath): boolean =>
    requestFields.spellingsIn(path).some((present) => !dropped.has(present.join('.')));
  const filled = body.edit(
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

const isSame = (one: KeyPath, other: KeyPath): boolean =>
  one.length === other.length && one.every((key, index) => key === other[index]);
