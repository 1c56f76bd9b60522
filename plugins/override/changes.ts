import {
  isObject,
  spellingsOf,
  type FieldTable,
  type KeyPath,
  type RequestBody,
  type Spellings,
  type Target,
  type FieldInItems,
} from '../../src/core/kernel/index.ts';
import type { Edit } from '../../src/plugin/index.ts';
import { ChangeSet, isSame, type FieldChange } from './change-set.ts';
import { mergeEdits, mergeLevels } from './merge-levels.ts';
import { applyPlaced, placeChanges, type PlacedChanges } from './nested-changes.ts';

export interface Changes {
  readonly placed: PlacedChanges;
  readonly inItems: readonly ItemChange[];
  readonly spellings: Spellings;
}

export function compileChanges(target: Target, table: FieldTable | undefined): Changes {
  const spellings = spellingsOf(table);
  const { defaultParams = {}, overrideLevels, dropParams, path } = target;
  const drops = dropParams.map((field): Edit =>
    forApi({ path: field, value: undefined, source: `${path} drop_params` }, table),
  );
  const editsOf =
    (source: string) =>
    (params: Params): readonly Edit[] =>
      inOwnNames(editsFor(params, source, table), spellings);
  const defaults = mergeLevels([defaultParams], editsOf(`${path} default_params`)).filter(
    ({ value }) => value !== undefined,
  );
  const overrides = mergeLevels(overrideLevels, editsOf(`${path} override_params`));
  const isOverridden = ({ path: field }: Edit): boolean => overrides.some((one) => isSame(one.path, field));
  const change = (edit: Edit, own: readonly Edit[], isDeletion = false): FieldChange => {
    const shared = spellings.sharedName(edit.path);
    const others = [
      ...spellings.synonymsOf(edit.path),
      ...(shared && (isDeletion || shared.isSettable || edit.of) ? shared.others : []),
      ...((edit.of && table?.otherApis?.alike(edit.path, edit.of)) ?? []),
    ];
    return { edit, synonyms: others.filter((other) => !own.some((one) => spellings.overlaps(one.path, other))) };
  };
  const set = new ChangeSet(
    defaults.map((edit) => change(edit, [])),
    // A field that the target itself sets is not deleted as a synonym.
    [
      ...overrides.map((edit) => change(edit, overrides, edit.value === undefined)),
      ...drops
        .filter((edit) => writes(overrideLevels, edit.path) || !isOverridden(edit))
        .map((edit) => change(edit, [...overrides, ...defaults], true)),
    ],
    new Set(drops.map((edit) => edit.path.join('.'))),
  );
  return {
    placed: placeChanges(set, spellings, table ?? {}),
    inItems: changesInItems([...overrides, ...drops], spellings, table?.inItems),
    spellings,
  };
}

type Params = Readonly<Record<string, unknown>>;

/** One edit for each leaf. A value with a form that the request's API does not have is one edit as a whole. */
const editsFor = (params: Params, source: string, table: FieldTable | undefined): readonly Edit[] =>
  Object.entries(params).flatMap(([key, written]): readonly Edit[] => {
    const value = table?.otherApis?.completed(key, written) ?? written;
    const leaves = mergeEdits({ [key]: value }, source);
    if (!table?.otherApis) return leaves;
    if (table.otherApis.isSplit(key)) return leaves.map((edit) => forApi(edit, table));
    const { api: of, whole } = table.otherApis.writtenFor([key], value ?? undefined);
    if (of === undefined) return leaves;
    return whole && value !== null ? [{ path: [key], value, source, of }] : leaves.map((edit) => ({ ...edit, of }));
  });

/** The edit with the API that its name belongs to, if that is not the API of the request. */
function forApi(edit: Edit, table: FieldTable | undefined): Edit {
  const of = table?.otherApis?.writtenFor(edit.path, undefined).api;
  return of === undefined ? edit : { ...edit, of };
}

/** A name of another API gives way to one of this API at the same level. Of two such names the later one counts. */
function inOwnNames(edits: readonly Edit[], spellings: Spellings): readonly Edit[] {
  const renamed = edits.map((edit): Edit => {
    const shared = spellings.sharedName(edit.path);
    if (!shared?.own || isSpelled(edit.path, shared.own, spellings)) return edit;
    return {
      ...edit,
      of: undefined,
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

const writes = (levels: readonly unknown[], [key, ...inner]: KeyPath): boolean =>
  key === undefined ||
  levels.some((params) => isObject(params) && Object.hasOwn(params, key) && writes([params[key]], inner));

export const applyChanges = (body: RequestBody, { placed, inItems, spellings }: Changes): RequestBody =>
  applyInItems(applyPlaced(body, placed, spellings), inItems);

/** The edits of a target that set or delete a whole field, of which items of the body declare more. */
interface ItemChange extends FieldInItems {
  readonly source: string;
}

const changesInItems = (
  edits: readonly Edit[],
  spellings: Spellings,
  inItems: readonly FieldInItems[] = [],
): readonly ItemChange[] =>
  inItems.flatMap((place) => {
    // A deletion names the parameter in the words of any API.
    const { others = [] } = spellings.sharedName([place.field]) ?? {};
    const names = (value: unknown) => [place.field, ...(value === undefined ? others.map(([name]) => name) : [])];
    const whole = edits.findLast(({ path, value }) => path.length === 1 && names(value).includes(path[0]));
    return whole ? [{ ...place, source: whole.source }] : [];
  });

/** Takes away what items of the body declare beside a field that the target sets or deletes: the model could use it all the same. */
function applyInItems(body: RequestBody, changes: readonly ItemChange[]): RequestBody {
  return changes.reduce((changed, { list, source, ...place }) => {
    const items = changed.has(list) ? changed.value(list) : undefined;
    if (!Array.isArray(items)) return changed;
    const kept = items.flatMap((item: unknown): unknown[] => changedItem(item, place));
    const isChanged = kept.length < items.length || kept.some((item, at) => item !== items[at]);
    return isChanged ? changed.edit([{ path: [list], value: kept, source }]) : changed;
  }, body);
}

function changedItem(item: unknown, { field, removed, emptied }: Omit<ItemChange, 'list' | 'source'>): unknown[] {
  const type = isObject(item) ? item['type'] : undefined;
  if (!isObject(item) || typeof type !== 'string') return [item];
  if (removed.includes(type)) return [];
  return emptied.includes(type) && item[field] !== undefined ? [{ ...item, [field]: [] }] : [item];
}
