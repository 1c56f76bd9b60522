import { existsSync, readFileSync } from 'node:fs';
import { packageFile } from '../../kernel/package-root.ts';
import { isObject } from '../../kernel/index.ts';
import { valueAt } from './pointer.ts';

export type SchemaName = 'server' | 'catalog' | 'keys' | 'gateway' | 'prompt' | 'prices' | 'teams' | 'test';
const ALL_NAMES: readonly SchemaName[] = ['server', 'catalog', 'keys', 'gateway', 'prompt', 'prices', 'teams', 'test'];

const schemaFile = (name: SchemaName): string => packageFile(`schemas/${name}.json`);

/** The schemas of this build: those of files that one add-on reads may be absent. */
export const SCHEMA_NAMES: readonly SchemaName[] = ALL_NAMES.filter((name) => existsSync(schemaFile(name)));

export type Schema = Readonly<Record<string, unknown>>;

/** A schema of the package with absolute `$ref`s, so that a part of it can be read alone. */
export function readSchema(name: SchemaName): Schema {
  // Bytes become types here: the files are the package's own, and ajv refuses an invalid schema.
  const schema = JSON.parse(readFileSync(schemaFile(name), 'utf8')) as Schema;
  return absoluteRefs(schema, `https://gatehouse.dev/schemas/${name}.json`);
}

export function absoluteRefs(schema: Schema, id: string): Schema {
  // The copy keeps the schema's shape.
  return absolute(schema, id) as Schema;
}

function absolute(value: unknown, id: string): unknown {
  if (Array.isArray(value)) return value.map((item) => absolute(item, id));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const isLocalRef = key === '$ref' && typeof inner === 'string' && inner.startsWith('#');
      return [key, isLocalRef ? `${id}${inner}` : absolute(inner, id)];
    }),
  );
}

/** The value in the file of a property that selects the branch of a union: the `provider` of a catalog entry. */
type TagOf = (property: string) => unknown;

/** Looks up the schemas that describe a path in a file. Their `$ref`s are absolute. */
export class SchemaTree {
  readonly #byId: ReadonlyMap<string, Schema>;

  constructor(schemas: Iterable<Schema>) {
    this.#byId = new Map([...schemas].map((schema) => [String(schema['$id']), schema]));
  }

  /** The schemas that may describe a member, given those that may describe its container. */
  child(containers: readonly Schema[], key: string | number, tagOf?: TagOf): readonly Schema[] {
    const fitting = containers.filter((schema) => fitsTag(schema, tagOf));
    // A tag that fits no branch is a typo: all branches are used then, or a secret would not be recognized as one.
    const typo = !fitting.some((schema) => isObject(schema['properties']));
    return (typo ? containers : fitting).flatMap((schema) => {
      const member =
        typeof key === 'number'
          ? schema['items']
          : (valueAt(schema['properties'], [key]) ?? schema['additionalProperties']);
      return isObject(member) ? this.alternatives(member) : [];
    });
  }

  /** A schema without its indirections: `$ref` followed, `oneOf` and `anyOf` opened. */
  alternatives(schema: Schema): readonly Schema[] {
    if (typeof schema['$ref'] === 'string')
      return this.#resolve(schema['$ref']).flatMap((one) => this.alternatives(one));
    const branches = [schema['oneOf'], schema['anyOf']].flatMap((list) => (Array.isArray(list) ? list : []));
    return [schema, ...branches.filter(isObject).flatMap((branch) => this.alternatives(branch))];
  }

  /** Empty for an unresolvable reference: ajv has refused such a schema, or a plugin's schema names an unknown one. */
  #resolve(ref: string): readonly Schema[] {
    const [id = '', fragment = ''] = ref.split('#');
    const found = valueAt(this.#byId.get(id), fragment.split('/').slice(1));
    return isObject(found) ? [found] : [];
  }
}

/** False for a branch of a tagged union whose constant differs from the file's value. */
function fitsTag(schema: Schema, tagOf: TagOf | undefined): boolean {
  const properties = schema['properties'];
  if (!tagOf || !isObject(properties)) return true;
  return Object.entries(properties).every(([name, property]) => {
    const constant = valueAt(property, ['const']);
    const given = tagOf(name);
    return constant === undefined || given === undefined || given === constant;
  });
}

export function propertiesOf(schema: unknown): Schema {
  const properties = valueAt(schema, ['properties']);
  return isObject(properties) ? properties : {};
}
