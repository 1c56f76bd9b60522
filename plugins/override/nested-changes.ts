import {
  applyEdit,
  isObject,
  type FieldTable,
  type KeyPath,
  type NestedFields,
  type RequestBody,
  type Spellings,
} from '../../src/core/kernel/index.ts';
import type { Edit } from '../../src/plugin/index.ts';
import { applySet, type ChangeSet } from './change-set.ts';

interface NestedChanges {
  readonly key: string;
  readonly isList: boolean;
  readonly only: boolean;
  readonly set: ChangeSet;
}

export interface PlacedChanges {
  /** For a body without the nested ones that may be absent. */
  readonly top: ChangeSet;
  /** For a body with one of them. */
  readonly besideNested: ChangeSet;
  readonly nested: readonly NestedChanges[];
}

const LIST = '[]';

export function placeChanges(
  set: ChangeSet,
  spellings: Spellings,
  { nested = [], foreign = [] }: Pick<FieldTable, 'nested' | 'foreign'>,
): PlacedChanges {
  if (nested.length + foreign.length === 0) return { top: set, besideNested: set, nested: [] };
  const nameIn = (fields: readonly string[], [key = '']: KeyPath): string | undefined =>
    fields.find((name) => spellings.ofKey(key).includes(name));
  const fieldsOf = (places: readonly NestedFields[]): readonly string[] => places.flatMap(({ fields }) => fields);
  const without = (fields: readonly string[]): ChangeSet =>
    set.filtered((path) => (nameIn(fields, path) === undefined ? path : undefined));
  return {
    top: without([...foreign, ...fieldsOf(nested.filter(({ only }) => only))]),
    besideNested: without([...foreign, ...fieldsOf(nested)]),
    nested: nested.map(({ at, fields, only }) => ({
      key: at.endsWith(LIST) ? at.slice(0, -LIST.length) : at,
      isList: at.endsWith(LIST),
      only,
      set: set.filtered((path) => {
        const name = nameIn(fields, path);
        return name === undefined ? undefined : [name, ...path.slice(1)];
      }),
    })),
  };
}

export function applyPlaced(body: RequestBody, { top, besideNested, nested }: PlacedChanges, spellings: Spellings) {
  const named = nested.map((one) => ({ ...one, key: spellings.ofKey(one.key).find((name) => body.has(name)) }));
  const isBeside = named.some(({ key, only }) => key !== undefined && !only);
  let changed = applySet(body, isBeside ? besideNested : top, spellings);
  for (const [at, { key, only, isList, set }] of named.entries()) {
    if (set.isEmpty || (key === undefined && (isList || !only))) continue;
    changed = changed.edit(editsIn(body, { key: key ?? nested[at]!.key, isList, set }, spellings));
  }
  return changed;
}

interface NestedSet {
  readonly key: string;
  readonly isList: boolean;
  readonly set: ChangeSet;
}

/** Validation refuses a value of another type later. */
function editsIn(body: RequestBody, { key, isList, set }: NestedSet, spellings: Spellings): readonly Edit[] {
  const value = body.has(key) ? body.value(key) : {};
  const change = (object: Record<string, unknown>): ObjectFields => applySet(new ObjectFields(object), set, spellings);
  if (!isList)
    return isObject(value) ? change(value).edits.map((edit) => ({ ...edit, path: [key, ...edit.path] })) : [];
  if (!Array.isArray(value)) return [];
  let source: string | undefined;
  const items = value.map((item: unknown) => {
    if (!isObject(item)) return item;
    const { object, edits } = change(item);
    source = edits.at(-1)?.source ?? source;
    return object;
  });
  return source === undefined ? [] : [{ path: [key], value: items, source }];
}

class ObjectFields {
  readonly object: Record<string, unknown>;
  readonly edits: readonly Edit[];

  constructor(object: Record<string, unknown>, edits: readonly Edit[] = []) {
    this.object = object;
    this.edits = edits;
  }

  has(key: string): boolean {
    return Object.hasOwn(this.object, key);
  }

  value(key: string): unknown {
    return this.has(key) ? this.object[key] : undefined;
  }

  edit(edits: readonly Edit[]): ObjectFields {
    return new ObjectFields(edits.reduce(applyEdit, this.object), [...this.edits, ...edits]);
  }
}
