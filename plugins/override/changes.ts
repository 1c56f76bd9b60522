import {
  mergeEdits,
  mergeLevels,
  spellingsOf,
  type Edit,
  type FieldTable,
  type RequestBody,
  type Spellings,
  type Target,
} from '../../src/plugin/index.ts';
import { ChangeSet, type FieldChange } from './change-set.ts';
import { applyPlaced, placeChanges, type PlacedChanges } from './nested-changes.ts';

/** The changes that a target makes to bodies of one API, compiled once. */
export interface Changes {
  readonly placed: PlacedChanges;
  readonly spellings: Spellings;
}

export function compileChanges(target: Target, table: FieldTable | undefined): Changes {
  const spellings = spellingsOf(table);
  const { defaultParams = {}, overrideLevels, dropParams, path } = target;
  const drops = dropParams.map((field): Edit => ({ path: field, value: undefined, source: `${path} drop_params` }));
  const defaults = mergeEdits(defaultParams, `${path} default_params`).filter(({ value }) => value !== undefined);
  const overrides = mergeLevels(overrideLevels, `${path} override_params`);
  const change = (edit: Edit, own: readonly Edit[]): FieldChange => {
    const others = spellings.synonymsOf(edit.path);
    return { edit, synonyms: others.filter((other) => !own.some((one) => spellings.overlaps(one.path, other))) };
  };
  const set = new ChangeSet(
    defaults.map((edit) => change(edit, [])),
    // A field that the target itself sets is not deleted as a synonym.
    [
      ...overrides.map((edit) => change(edit, overrides)),
      ...drops.map((edit) => change(edit, [...overrides, ...defaults])),
    ],
    new Set(drops.map((edit) => edit.path.join('.'))),
  );
  return { placed: placeChanges(set, spellings, table ?? {}), spellings };
}

/** The body with the target's changes. */
export const applyChanges = (body: RequestBody, { placed, spellings }: Changes): RequestBody =>
  applyPlaced(body, placed, spellings);
