import { foldCase } from '../../plugin/index.ts';
import type { FieldTable } from '../../formats/fields/field-table.ts';
import { ITEM } from './field-path.ts';

/** Fields below an object or a list, by their names. */
export interface FieldNode {
  readonly fields: ReadonlyMap<string, FieldNode>;
  /** Items of a list. */
  readonly item: FieldNode | undefined;
  /** A path ends here: it means everything inside. */
  readonly whole: boolean;
}

interface Growing {
  readonly fields: Map<string, Growing>;
  item: Growing | undefined;
  whole: boolean;
}

const newNode = (): Growing => ({ fields: new Map(), item: undefined, whole: false });

/** @param nameOf under what name a key is found */
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

/** The node of a key. Protobuf's JSON takes one object for a list of it, so the items' fields count too. */
export const fieldOf = (node: FieldNode | undefined, name: string): FieldNode | undefined =>
  node && (node.fields.get(name) ?? node.item?.fields.get(name));

/** The node of a list's items. A list where a rule names an object is looked into as if it were one. */
export const itemOf = (node: FieldNode | undefined): FieldNode | undefined => node && (node.item ?? node);

/**
 * How a name is compared that is refused: in any case and with or without underscores. A key of a megabyte takes 100 ms to fold
 * (measured), so one that is longer than the `longest` name stays as it is.
 */
export function looseName(key: string, longest = Infinity): string {
  const letters = key.replaceAll('_', '');
  return letters.length > longest ? letters : foldCase(letters);
}

/** How a name is compared that passes: exactly, or in either case where the API takes both. */
export const exactName =
  ({ bothCases }: Pick<FieldTable, 'bothCases'>) =>
  (key: string): string =>
    bothCases ? key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : key;

/** The path, and the same in every other name that the API has for the field at its beginning, in lifted objects too. */
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
