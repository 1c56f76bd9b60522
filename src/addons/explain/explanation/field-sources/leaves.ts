import { isObject } from '../../../../formats/json/object.ts';

export type LeafPath = readonly (string | number)[];

/** The value of a leaf: a scalar, or one of the two symbols below. */
export type LeafValue = string | number | boolean | null | typeof EMPTY_LIST | typeof EMPTY_OBJECT;
const EMPTY_LIST = Symbol('[]');
const EMPTY_OBJECT = Symbol('{}');

/** The end of one path of a JSON value. */
export interface Leaf {
  readonly path: LeafPath;
  readonly value: LeafValue;
}

/** Leaves by `keyOf` of their path, in document order. */
export type Leaves = ReadonlyMap<string, Leaf>;

/** Unique per path. A name may contain dots, and JSON.stringify takes ten times as long. */
export const keyOf = (path: LeafPath): string => path.join('\u0000');

export function leavesOf(root: unknown): Leaves {
  const leaves = new Map<string, Leaf>();
  const visit = (value: unknown, path: LeafPath, key: string): void => {
    const inner = Array.isArray(value) ? [...value.entries()] : isObject(value) ? Object.entries(value) : undefined;
    if (!inner || inner.length === 0) return void leaves.set(key, { path, value: leafValue(value) });
    for (const [name, one] of inner)
      visit(one, [...path, name], path.length === 0 ? String(name) : `${key}\u0000${name}`);
  };
  visit(root, [], '');
  return leaves;
}

/** Values of the leaves alone, by their keys: a third of the work, for what is written again and again. */
export function valuesOf(root: unknown): ReadonlyMap<string, LeafValue> {
  const values = new Map<string, LeafValue>();
  const visit = (value: unknown, key: string): void => {
    if (Array.isArray(value) && value.length > 0) {
      for (let index = 0; index < value.length; index += 1)
        visit(value[index], key === '' ? `${index}` : `${key}\u0000${index}`);
    } else if (isObject(value) && Object.keys(value).length > 0) {
      for (const [name, one] of Object.entries(value)) visit(one, key === '' ? name : `${key}\u0000${name}`);
    } else values.set(key, leafValue(value));
  };
  visit(root, '');
  return values;
}

function leafValue(value: unknown): LeafValue {
  if (Array.isArray(value)) return EMPTY_LIST;
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  return isObject(value) ? EMPTY_OBJECT : null;
}

/** Marks a removed value. */
export const REMOVED = Symbol('removed');

export interface LeafChange {
  readonly path: LeafPath;
  /** JSON, or `REMOVED`. */
  readonly value: unknown;
}

/** Applies all changes to a value. Unchanged parts are shared with the original. */
export function changed(root: unknown, changes: readonly LeafChange[]): unknown {
  const tree: Tree = { inner: new Map(), value: undefined, set: false };
  for (const { path, value } of changes) {
    let node = tree;
    for (const name of path) {
      let next = node.inner.get(name);
      if (!next) node.inner.set(name, (next = { inner: new Map(), value: undefined, set: false }));
      node = next;
    }
    node.value = value;
    node.set = true;
  }
  return rebuilt(root, tree);
}

interface Tree {
  readonly inner: Map<string | number, Tree>;
  value: unknown;
  set: boolean;
}

function rebuilt(value: unknown, tree: Tree): unknown {
  if (tree.set) return tree.value;
  if (tree.inner.size === 0) return value;
  if (Array.isArray(value))
    return value.map((one: unknown, index) => at(one, tree.inner.get(index))).filter((one) => one !== REMOVED);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([name, one]) => [name, at(one, tree.inner.get(name))] as const);
  return Object.fromEntries(entries.filter(([, one]) => one !== REMOVED));
}

const at = (value: unknown, tree: Tree | undefined): unknown => (tree ? rebuilt(value, tree) : value);

/** The difference between two encodings. */
export interface Difference {
  /** Both have the same paths. */
  readonly sameShape: boolean;
  /** Keys of the first encoding whose value differs or is missing in the second. */
  readonly keys: readonly string[];
}

export function differenceOf(before: Leaves, after: ReadonlyMap<string, LeafValue>): Difference {
  const keys: string[] = [];
  let kept = 0;
  for (const [key, { value }] of before) {
    const other = after.get(key);
    if (other !== undefined) kept += 1;
    if (other === undefined || !Object.is(other, value)) keys.push(key);
  }
  return { sameShape: kept === before.size && kept === after.size, keys };
}

/** Leaves at the same place in all items of lists: `messages.*.content`. */
export interface LeafGroup {
  readonly pattern: string;
  readonly leaves: readonly Leaf[];
}

export function groupsOf(leaves: Iterable<Leaf>): readonly LeafGroup[] {
  const groups = Map.groupBy(leaves, ({ path, value }) => `${typeof value} ${patternOf({ path })}`);
  return [...groups].map(([pattern, group]) => ({ pattern, leaves: group }));
}

export const patternOf = ({ path }: Pick<Leaf, 'path'>): string =>
  path.map((name) => (typeof name === 'number' ? '*' : name)).join('\u0000');

/** Few distinct words that occur often: an enumeration, whose writer is likely to reject any other word. */
export function isEnumeration({ leaves }: LeafGroup): boolean {
  const words = new Set(leaves.map(({ value }) => value));
  return words.size * 2 <= leaves.length && [...words].every((word) => typeof word === 'string' && WORD.test(word));
}

const WORD = /^[a-z_]{1,24}$/i;

export function halves({ pattern, leaves }: LeafGroup): readonly [LeafGroup, LeafGroup] {
  const middle = leaves.length >> 1;
  return [
    { pattern, leaves: leaves.slice(0, middle) },
    { pattern, leaves: leaves.slice(middle) },
  ];
}
