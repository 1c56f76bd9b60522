import {
  isObject,
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
  const rename = (edits: readonly Edit[]): readonly Edit[] => inOwnNames(edits, spellings);
  const defaults = mergeLevels([defaultParams], `${path} default_params`, rename).filter(
    ({ value }) => value !== undefined,
  );
  const overrides = mergeLevels(overrideLevels, `${path} override_params`, rename);
  const isOverridden = ({ path: field }: Edit): boolean => overrides.some((one) => isSame(one.path, field));
  const change = (edit: Edit, own: readonly Edit[], isDeletion = false): Change => {
    const shared = spellings.sharedName(edit.path);
    const others = [
      ...spellings.synonymsOf(edit.path),
      ...(shared && (isDeletion || shared.isSettable) ? shared.others : []),
    ];
    return { edit, synonyms: others.filter((other) => !own.some((one) => spellings.overlaps(one.path, other))) };
  };
  return {
    defaults: defaults.map((edit) => change(edit, [])),
    // A field that the target itself sets is not deleted as a synonym.
    overrides: [
      ...overrides.map((edit) => change(edit, overrides, edit.value === undefined)),
      ...drops
        .filter((edit) => writes(overrideLevels, edit.path) || !isOverridden(edit))
        .map((edit) => change(edit, [...overrides, ...defaults], true)),
    ],
    dropped: new Set(drops.map((edit) => edit.path.join('.'))),
    spellings,
  };
}

/**
 * Edits under the names that the API has. A name of another API gives way to one of this API at the same level. One of two such names is
 * enough: the later one.
 */
function inOwnNames(edits: readonly Edit[], spellings: Spellings): readonly Edit[] {
  const renamed = edits.map((edit): Edit => {
    const shared = spellings.sharedName(edit.path);
    if (!shared?.own || isSpelled(edit.path, shared.own, spellings)) return edit;
    return {
      ...edit,
      path: shared.own,
      value: shared.isList && typeof edit.value === 'string' ? [edit.value] : edit.value,
    };
  });
  const isOfApi = (index: number): boolean => renamed[index] === edits[index];
  return renamed.filter((edit, index) => {
    if (isOfApi(index)) return true;
    const { others = [] } = spellings.sharedName(edit.path) ?? {};
    const isAlike = (one: Edit): boolean => [edit.path, ...others].some((name) => isSpelled(one.path, name, spellings));
    return !renamed.some((one, at) => at !== index && isAlike(one) && (isOfApi(at) || at > index));
  });
}

const isSpelled = (path: KeyPath, name: KeyPath, spellings: Spellings): boolean =>
  path.length === name.length && spellings.overlaps(path, name);

/** Whether a level writes this very name. */
const writes = (levels: readonly unknown[], [key, ...inner]: KeyPath): boolean =>
  key === undefined ||
  levels.some((params) => isObject(params) && Object.hasOwn(params, key) && writes([params[key]], inner));

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
