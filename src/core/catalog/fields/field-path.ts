import { nearest, foldCase, type FieldTable } from '../../kernel/index.ts';
import { FIELD_TABLES } from '../../../formats/fields/field-tables.ts';
import { toSnake } from '../../../formats/json/field-names.ts';
import { SHARED_NAMES } from '../../../formats/fields/shared-parameters.ts';
import { SHARED_CREDENTIALS } from '../../../formats/fields/shared-credentials.ts';

export const ITEM = '[]';

/** A path of a rule: keys, and `[]` for every item of a list. */
export interface FieldPath {
  readonly keys: readonly string[];
  /** Written `**.name`: at any depth. */
  readonly anywhere: boolean;
}

const ANYWHERE = '**.';
const KEY = /^([^.[\]]+)((?:\[\])*)$/;

/** Reads `store`, `tools[].container` or `**.file_id`. */
export function readFieldPath(text: string): FieldPath | { readonly message: string; readonly suggestion?: string } {
  if (text.startsWith('$.')) return { message: 'a path must begin with a field name', suggestion: text.slice(2) };
  const indexed = text.replaceAll(/\[(?:\d+|\*)\]/g, ITEM).replaceAll(/\.\*(?=\.|$)/g, ITEM);
  if (indexed !== text)
    return { message: 'a path cannot name a single item; write `[]` for every item', suggestion: indexed };
  const anywhere = text.startsWith(ANYWHERE);
  const rest = anywhere ? text.slice(ANYWHERE.length) : text;
  const keys: string[] = [];
  for (const part of rest.split('.')) {
    const [, key, items = ''] = KEY.exec(part) ?? [];
    if (key === undefined || key === '**')
      return {
        message: 'write names separated by dots, such as `tools[].container`; `**.` may precede a single name',
      };
    keys.push(key, ...Array.from({ length: items.length / ITEM.length }, () => ITEM));
  }
  if (anywhere && keys.length > 1)
    return {
      message: '`**.` must be followed by a single name',
      suggestion: `${ANYWHERE}${keys.findLast((key) => key !== ITEM) ?? ''}`,
    };
  return { keys, anywhere };
}

const KNOWN: ReadonlySet<string> = new Set([
  ...FIELD_TABLES.flatMap(({ read, freeMaps }) => [...read, ...freeMaps]).map((path) => path.split(/[.[]/, 1)[0]!),
  ...SHARED_CREDENTIALS.flatMap((path) => (path.startsWith(ANYWHERE) ? path.slice(ANYWHERE.length) : [])),
]);

/** The known field that a name probably misspells. Upstreams have fields of their own, so an unknown name alone is not an error. */
export function meantField({ keys: [name = '', ...rest], anywhere }: FieldPath): string | undefined {
  if (KNOWN.has(name)) return undefined;
  const meant = nearest(name, KNOWN);
  if (meant === undefined) return undefined;
  const inner = rest.map((key) => (key === ITEM ? ITEM : `.${key}`)).join('');
  return `${anywhere ? ANYWHERE : ''}${meant}${inner}`;
}

export interface FieldNode {
  readonly fields: ReadonlyMap<string, FieldNode>;
  readonly item: FieldNode | undefined;
  /** A path ends here, so it covers everything inside. */
  readonly whole: boolean;
}

interface Growing {
  readonly fields: Map<string, Growing>;
  item: Growing | undefined;
  whole: boolean;
}

const newNode = (): Growing => ({ fields: new Map(), item: undefined, whole: false });

/** @param nameOf the form under which a key is stored */
export function treeOf(paths: Iterable<readonly string[]>, nameOf: (key: string) => string): FieldNode {
  const root = newNode();
  for (const path of paths) {
    let node = root;
    for (const key of path) {
      if (key === ITEM) node = node.item ??= newNode();
      else {
        let next = node.fields.get(nameOf(key));
        if (!next) node.fields.set(nameOf(key), (next = newNode()));
        node = next;
      }
    }
    node.whole = true;
  }
  return root;
}

/** The node of a key. Protobuf's JSON accepts one object in place of a list, so the items' fields count too. */
export const fieldOf = (node: FieldNode | undefined, name: string): FieldNode | undefined =>
  node && (node.fields.get(name) ?? node.item?.fields.get(name));

/** The node of a list's items. Where a rule names an object and the body has a list, the rule applies to each item. */
export const itemOf = (node: FieldNode | undefined): FieldNode | undefined => node && (node.item ?? node);

/** Without case and underscores. Folding 1 MB takes 100 ms (measured): a key longer than `longest` is not folded. */
export function looseName(key: string, longest = Infinity): string {
  const letters = key.replaceAll('_', '');
  return letters.length > longest ? letters : foldCase(letters);
}

/** The form in which allowed names are compared: exact, or snake_case where the API accepts both cases. */
export const exactName =
  ({ bothCases }: Pick<FieldTable, 'bothCases'>) =>
  (key: string): string =>
    bothCases ? toSnake(key) : key;

/** The path under every name of its first field, in any API, also inside lifted objects and nested bodies. */
export function withSynonyms(
  path: readonly string[],
  table: Pick<FieldTable, 'shared' | 'synonyms' | 'lifted' | 'nested'>,
): (readonly string[])[] {
  const all = withNames(path, table.shared ? [...table.synonyms, ...SHARED_NAMES] : table.synonyms);
  return [...all, ...innerPlaces(table).flatMap((place) => all.map((one) => [...place, ...one]))];
}

/** Where the fields of the top level stand, too. */
export const innerPlaces = ({
  lifted,
  nested = [],
}: Pick<FieldTable, 'lifted' | 'nested'>): readonly (readonly string[])[] => [
  ...lifted.map((object) => [object]),
  ...nested.map(({ at }) => (at.endsWith(ITEM) ? [at.slice(0, -ITEM.length), ITEM] : [at])),
];

/** Ignores invalid paths: they are reported when the settings are checked. */
export const readFieldPaths = (texts: readonly string[]): FieldPath[] =>
  texts.flatMap((text) => {
    const path = readFieldPath(text);
    return 'message' in path ? [] : path;
  });

function withNames(path: readonly string[], synonyms: FieldTable['synonyms']): (readonly string[])[] {
  const all = [path];
  for (const group of synonyms.map((one) => readFieldPaths(one).map(({ keys }) => keys))) {
    const own = group.find((one) =>
      one.every((key, index) => index < path.length && toSnake(path[index]!) === toSnake(key)),
    );
    if (!own) continue;
    for (const other of group) if (other !== own) all.push([...other, ...path.slice(own.length)]);
  }
  return all;
}
