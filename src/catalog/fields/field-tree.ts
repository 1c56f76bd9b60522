import { foldCase } from '../../plugin/index.ts';
import type { FieldTable } from '../../formats/fields/field-tables.ts';
import { toSnake } from '../../formats/json/field-names.ts';
import { ITEM } from './field-path.ts';

/** The fields of an object or of a list's items, by name. */
export interface FieldNode {
  readonly fields: ReadonlyMap<string, FieldNode>;
  /** Items of a list. */
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

/**
 * The form in which denied names are compared: without case and underscores. Folding a key of 1 MB takes 100 ms
 * (measured), so a key longer than `longest` is not folded.
 */
export function looseName(key: string, longest = Infinity): string {
  const letters = key.replaceAll('_', '');
  return letters.length > longest ? letters : foldCase(letters);
}

/** The form in which allowed names are compared: exact, or snake_case where the API accepts both cases. */
export const exactName =
  ({ bothCases }: Pick<FieldTable, 'bothCases'>) =>
  (key: string): string =>
    bothCases ? toSnake(key) : key;

/** The path and its synonyms: every other name that the API has for its first field, also inside lifted objects. */
export function withSynonyms(
  path: readonly string[],
  { synonyms, lifted }: Pick<FieldTable, 'synonyms' | 'lifted'>,
): (readonly string[])[] {
  const all = withNames(path, synonyms);
  return [...all, ...lifted.flatMap((object) => all.map((one) => [object, ...one]))];
}

function withNames(path: readonly string[], synonyms: FieldTable['synonyms']): (readonly string[])[] {
  const all = [path];
  for (const group of synonyms.map((one) => one.map((text) => text.split('.')))) {
    const own = group.find((one) => one.every((key, index) => path[index] === key));
    if (!own) continue;
    for (const other of group) if (other !== own) all.push([...other, ...path.slice(own.length)]);
  }
  return all;
}
