import { VENDOR_OBJECTS, type VendorObject, type VendorObjectKind } from '../../../formats/fields/vendor-objects.ts';
import type { FieldTable } from '../../../formats/fields/field-table.ts';
import type { FieldSettings } from '../../kernel/index.ts';
import { fieldOf, itemOf, ITEM, readFieldPath, treeOf, withSynonyms, type FieldNode } from './field-path.ts';

/** Which ids of the vendor's objects are refused in the bodies of one API. */
export interface ObjectRules {
  readonly kinds: ReadonlySet<VendorObjectKind>;
  /** By the names of fields at any depth, in the form of `looseName`. */
  readonly anywhere: ReadonlyMap<string, VendorObject>;
  readonly tree: FieldNode;
  /** By the nodes of the tree. */
  readonly placed: ReadonlyMap<FieldNode, VendorObject>;
}

/** @param loose the form in which names are compared */
export function objectRules(
  { preset, vendorObjects }: FieldSettings,
  table: FieldTable,
  loose: (key: string) => string,
): ObjectRules | undefined {
  // The preset denies the other rows by their names.
  const rows = VENDOR_OBJECTS.filter(
    ({ kind, ids }) => (vendorObjects && !vendorObjects.includes(kind)) || (preset && ids),
  );
  if (rows.length === 0) return undefined;
  const anywhere = new Map<string, VendorObject>();
  const paths: (readonly [keys: readonly string[], row: VendorObject])[] = [];
  for (const row of rows) {
    const path = readFieldPath(row.path);
    if ('message' in path) continue;
    if (path.anywhere) anywhere.set(loose(path.keys[0]!), row);
    else for (const keys of withSynonyms(path.keys, table)) paths.push([keys, row]);
  }
  const tree = treeOf(
    paths.map(([keys]) => keys),
    loose,
  );
  const placed = new Map(paths.map(([keys, row]) => [nodeAt(tree, keys, loose)!, row]));
  return { kinds: new Set(rows.map(({ kind }) => kind)), anywhere, tree, placed };
}

const nodeAt = (tree: FieldNode, keys: readonly string[], loose: (key: string) => string): FieldNode | undefined =>
  keys.reduce<FieldNode | undefined>((node, key) => (key === ITEM ? itemOf(node) : fieldOf(node, loose(key))), tree);
