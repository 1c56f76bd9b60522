/**
 * Every key of the settings files, at every path where it is allowed. The documentation lists them, and the tests of the
 * schemas iterate over them.
 */
import { valueAt } from '../src/core/settings/schema/pointer.ts';
import {
  readSchema,
  SCHEMA_NAMES,
  type Schema,
  type SchemaName,
  propertiesOf,
} from '../src/core/settings/schema/schema-files.ts';
import { isObject } from '../src/core/kernel/index.ts';

export interface Place {
  readonly file: SchemaName;
  /** The path as in documentation: `providers[].slug`. */
  readonly path: string;
  readonly name: string;
  /** The key that holds the object this key is in; undefined at the top of a file. */
  readonly parent: Place | undefined;
  readonly owner: Owner;
  /** The schemas of the key, nearest first: at the key itself, then each definition that it refers to. */
  readonly layers: readonly Schema[];
  /** The layers merged; nearer ones take precedence. */
  readonly schema: Schema;
  /** Address of the definition that the key refers to, if any. */
  readonly address: string | undefined;
  readonly required: boolean;
  readonly deprecated: boolean;
}

/** An object with keys. */
export interface Owner {
  readonly schema: Schema;
  /** Address of the schema; one object may be allowed at several paths of a file. */
  readonly address: string;
  /** Path of the object; empty at the top. */
  readonly path: string;
  /** True for an item of the parent's list. */
  readonly isItem: boolean;
}

/** Keys in the order of the schema, each before its inner keys. A recursive list (`targets`) is expanded once. */
export function placesOf(file: SchemaName): readonly Place[] {
  const schema = readSchema(file);
  return placesIn({ schema, address: String(schema['$id']), path: '', isItem: false }, { file, parent: undefined });
}

interface Around {
  readonly file: SchemaName;
  readonly parent: Place | undefined;
}

function placesIn(owner: Owner, { file, parent }: Around): readonly Place[] {
  const { required } = owner.schema;
  return Object.entries(propertiesOf(owner.schema)).flatMap(([name, given]) => {
    if (!isObject(given)) return [];
    const { layers, address } = follow(given);
    const path = owner.path === '' ? name : `${owner.path}.${name}`;
    const place: Place = {
      file,
      path,
      name,
      parent,
      owner,
      layers,
      address,
      schema: mergeOf(layers),
      required: Array.isArray(required) && required.includes(name),
      deprecated: given['deprecated'] === true,
    };
    const at = address ?? `${owner.address}/properties/${name}`;
    const inner = ownersIn(place.schema, { address: at, path, isItem: false });
    return [
      place,
      ...inner.filter((one) => !isAround(one, place)).flatMap((one) => placesIn(one, { file, parent: place })),
    ];
  });
}

/** The objects with keys that the schema allows: itself, its branches, its items. */
function ownersIn(schema: Schema, at: Omit<Owner, 'schema'>): readonly Owner[] {
  if (Object.keys(propertiesOf(schema)).length > 0) return [{ ...at, schema }];
  const branches = [schema['anyOf'], schema['oneOf']].flatMap((list) => (Array.isArray(list) ? list : []));
  const items = schema['items'];
  return [
    ...branches
      .filter(isObject)
      .flatMap((branch, index) => followed(branch, { ...at, address: `${at.address}/${index}` })),
    ...(isObject(items) ? followed(items, { address: `${at.address}/items`, path: `${at.path}[]`, isItem: true }) : []),
  ];
}

function followed(schema: Schema, at: Omit<Owner, 'schema'>): readonly Owner[] {
  const { layers, address } = follow(schema);
  return ownersIn(mergeOf(layers), { ...at, address: address ?? at.address });
}

function isAround(owner: Owner, place: Place | undefined): boolean {
  if (!place) return false;
  return place.owner.address === owner.address || isAround(owner, place.parent);
}

function follow(schema: Schema): { readonly layers: readonly Schema[]; readonly address: string | undefined } {
  const { $ref: ref, ...own } = schema;
  if (typeof ref !== 'string') return { layers: [own], address: undefined };
  const [id = '', fragment = ''] = ref.split('#');
  const name = SCHEMA_NAMES.find((one) => id.endsWith(`/${one}.json`));
  const found = name && valueAt(readSchema(name), fragment.split('/').slice(1));
  if (!isObject(found)) throw new Error(`A schema refers to ${ref}, which does not exist.`);
  const { layers, address = ref } = follow(found);
  return { layers: [own, ...layers], address };
}

/** The schema merged with the definitions that it refers to. */
export const resolved = (schema: Schema): Schema => mergeOf(follow(schema).layers);

const mergeOf = (layers: readonly Schema[]): Schema => Object.assign({}, ...layers.toReversed());

/** A value to show: an example or, where there is none, the default, from the nearest layer that has one. */
export function exampleOf({ layers }: Place): unknown {
  for (const { const: only, examples, default: usual } of layers) {
    const found = only ?? (Array.isArray(examples) ? examples[0] : undefined) ?? usual;
    if (found !== undefined) return found;
  }
  return undefined;
}
