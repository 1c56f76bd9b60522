import { isObject, type FieldInItems, type Spellings, type RequestBody } from '../../src/core/kernel/index.ts';
import type { Edit } from '../../src/plugin/index.ts';

/** The edits of a target that set or delete a whole field, of which items of the body declare more. */
export interface ItemChange extends FieldInItems {
  readonly source: string;
}

export const changesInItems = (
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
export function applyInItems(body: RequestBody, changes: readonly ItemChange[]): RequestBody {
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
