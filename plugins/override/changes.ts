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

/** One field that a target sets or takes out. */
interface Change {
  readonly edit: Edit;
  /** Fields of a body that must go when the edit is made, because they say the same. */
  readonly synonyms: readonly KeyPath[];
}

/** The changes that a target makes to bodies of one API, worked out once. */
export interface Changes {
  /** Only where the request leaves the field out; null is OpenAI's way of leaving it out. */
  readonly beneath: readonly Change[];
  readonly laidOver: readonly Change[];
  /** Fields that are taken out whatever the request says in them. */
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
    beneath: defaults.map((edit) => change(edit, [])),
    // What the target itself sets is no synonym that the caller has slipped in.
    laidOver: [
      ...overrides.map((edit) => change(edit, overrides)),
      ...drops.map((edit) => change(edit, [...overrides, ...defaults])),
    ],
    dropped: new Set(drops.map((edit) => edit.path.join('.'))),
    spellings,
  };
}

/** The body as the target wants it. */
export function applyChanges(body: RequestBody, { beneath, laidOver, dropped, spellings }: Changes): RequestBody {
  const asked = new SpelledFields(body, spellings);
  const counts = (path: KeyPath): boolean => asked.said(path).some((said) => !dropped.has(said.join('.')));
  const filled = body.edit(
    beneath.flatMap(({ edit, synonyms }) =>
      asked.said(edit.path).length > 0 || synonyms.some(counts) ? [] : [{ ...edit, path: asked.nearest(edit.path) }],
    ),
  );
  const fields = new SpelledFields(filled, spellings);
  return filled.edit(
    laidOver.flatMap(({ edit, synonyms }) => {
      const path = fields.nearest(edit.path);
      const said = [edit.path, ...synonyms].flatMap((field) => fields.said(field));
      const replaced = said.filter((other) => !isSame(other, path));
      return [...replaced.map((other): Edit => ({ ...edit, path: other, value: undefined })), { ...edit, path }];
    }),
  );
}

const isSame = (one: KeyPath, other: KeyPath): boolean =>
  one.length === other.length && one.every((key, index) => key === other[index]);
