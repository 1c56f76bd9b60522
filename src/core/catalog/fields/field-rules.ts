import type { FieldSettings, FieldTable } from '../../kernel/index.ts';
import { chatFields } from '../../../formats/fields/field-tables.ts';
import { SAME_SERVERS, SHARED_CREDENTIALS } from '../../../formats/fields/shared-credentials.ts';
import { toSnake } from '../../../formats/json/field-names.ts';
import {
  innerPlaces,
  ITEM,
  readFieldPaths,
  exactName,
  looseName,
  treeOf,
  withSynonyms,
  type FieldPath,
  type FieldNode,
  fieldOf,
  itemOf,
} from './field-path.ts';
import type { Fields } from '../../../../schemas/types.generated.ts';
import { VENDOR_OBJECTS, type VendorObject, type VendorObjectKind } from '../../../formats/fields/vendor-objects.ts';

export interface CompiledRules {
  readonly denied: FieldNode;
  /** Names that are refused at any depth, in the form of `looseName`. */
  readonly deniedAnywhere: ReadonlySet<string>;
  /** Undefined: every field that is not denied passes. */
  readonly allowed: FieldNode | undefined;
  readonly allowedAnywhere: ReadonlySet<string>;
  /** Objects with arbitrary keys of the caller. */
  readonly freeMaps: FieldNode;
  /** How a key is compared with names that pass, and with names that are refused. One that is longer than every name stays as it is. */
  readonly exact: (key: string) => string;
  readonly loose: (key: string) => string;
  /** Undefined: ids of the vendor's objects pass. */
  readonly objects: ObjectRules | undefined;
  /** Undefined: `gs://` addresses pass. */
  readonly buckets: readonly string[] | undefined;
}

/** The field rules of one key or one catalog entry. Compiled once for each operation's fields. */
export class FieldRules {
  /** The owner of the rules, as the subject of a message: `This key`, `@openai`. */
  readonly owner: string;
  readonly #settings: FieldSettings;
  readonly #compiled = new Map<FieldTable, CompiledRules>();
  /** For requests that leave with the caller's own token: the account behind it is not the gateway's. */
  readonly ofOwnAccount: FieldRules;

  constructor({ vendorObjects, ...settings }: FieldSettings, owner: string) {
    this.#settings = vendorObjects ? { ...settings, vendorObjects } : settings;
    this.owner = owner;
    this.ofOwnAccount = vendorObjects ? new FieldRules(settings, owner) : this;
  }

  /** @param table the fields of the operation. Default: those of chat completions. */
  for(table: FieldTable = chatFields): CompiledRules {
    let compiled = this.#compiled.get(table);
    if (!compiled) this.#compiled.set(table, (compiled = compile(this.#settings, table)));
    return compiled;
  }
}

function compile(settings: FieldSettings, table: FieldTable): CompiledRules {
  const { preset, deny = [], allow, mediaBuckets } = settings;
  const denied = withServers(readFieldPaths([...deny, ...(preset === 'shared_credentials' ? SHARED_CREDENTIALS : [])]));
  // A request without a model has no target. `models` restricts which models pass.
  const allowed = allow && readFieldPaths([...allow, 'model']).filter((path) => !isNestedBody(path, table));
  let longest = 0;
  const noting =
    (nameOf: (key: string) => string) =>
    (key: string): string => {
      const name = nameOf(key);
      longest = Math.max(longest, name.length);
      return name;
    };
  const nameOf = exactName(table);
  const exact = noting(nameOf);
  const loose = noting(looseName);
  const placed = (paths: readonly FieldPath[]) =>
    // `**.max_tokens` covers the parameter under its other names, too.
    paths.flatMap(({ keys, anywhere }) => withSynonyms(keys, table).slice(anywhere ? 1 : 0));
  const anywhere = (paths: readonly FieldPath[], nameOf: (key: string) => string) =>
    new Set(paths.flatMap(({ keys, anywhere: any }) => (any ? nameOf(keys[0]!) : [])));
  const objects = objectRules(settings, table, loose);
  return {
    objects,
    denied: treeOf(placed(denied), loose),
    deniedAnywhere: anywhere(denied, loose),
    allowed: allowed && treeOf(placed(allowed), exact),
    allowedAnywhere: anywhere(allowed ?? [], exact),
    freeMaps: treeOf(
      readFieldPaths(table.freeMaps).flatMap(({ keys }) => [
        keys,
        ...innerPlaces(table).map((place) => [...place, ...keys]),
      ]),
      exact,
    ),
    // A key is no shorter as an exact name, and what is left of one beside its underscores is as long as its folding.
    exact: (key) => (key.length > longest ? key : nameOf(key)),
    loose: (key) => looseName(key, longest),
    buckets: mediaBuckets ?? (preset === 'shared_credentials' || objects?.kinds.has('files') ? [] : undefined),
  };
}

/** A name of the object around a nested body allows none of the fields inside: they are named as at the top level. */
const isNestedBody = ({ keys: [key = '', ...inner] }: FieldPath, { nested = [] }: FieldTable): boolean =>
  inner.every((one) => one === ITEM) && nested.some(({ at }) => toSnake(at.split(ITEM, 1)[0]!) === toSnake(key));

/** A rule for the MCP servers of one API holds for those of all. */
const withServers = (paths: readonly FieldPath[]): readonly FieldPath[] => [
  ...paths,
  ...paths.flatMap(({ keys }) => {
    return readFieldPaths(SERVERS.get(looseName(keys.findLast((key) => key !== ITEM) ?? '')) ?? []);
  }),
];

const SERVERS = new Map([...SAME_SERVERS].map(([name, others]) => [looseName(name), others]));

export const compileFields = (file: Fields | undefined): FieldSettings | undefined =>
  file && {
    preset: file.preset,
    deny: file.deny,
    allow: file.allow,
    mediaBuckets: file.media_buckets,
    vendorObjects: passingKinds(file.vendor_objects),
  };

const passingKinds = (setting: Fields['vendor_objects']): FieldSettings['vendorObjects'] =>
  typeof setting === 'object' ? setting : setting === 'refuse' ? [] : undefined;

interface ObjectRules {
  readonly kinds: ReadonlySet<VendorObjectKind>;
  /** By the names of fields at any depth, in the form of `looseName`. */
  readonly anywhere: ReadonlyMap<string, VendorObject>;
  readonly tree: FieldNode;
  readonly placed: ReadonlyMap<FieldNode, VendorObject>;
}

function objectRules(
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
    for (const path of readFieldPaths([row.path])) {
      if (path.anywhere) anywhere.set(loose(path.keys[0]!), row);
      else for (const keys of withSynonyms(path.keys, table)) paths.push([keys, row]);
    }
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
