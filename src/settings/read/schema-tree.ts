import { valueAt } from './pointer.ts';
import type { Schema } from './schema-files.ts';

/** The value in the file of a property that selects the branch of a union: the `provider` of a catalog entry. */
export type TagOf = (property: string) => unknown;

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
    const typo = !fitting.some((schema) => isSchema(schema['properties']));
    return (typo ? containers : fitting).flatMap((schema) => {
      const member =
        typeof key === 'number'
          ? schema['items']
          : (valueAt(schema['properties'], [key]) ?? schema['additionalProperties']);
      return isSchema(member) ? this.alternatives(member) : [];
    });
  }

  /** A schema without its indirections: `$ref` followed, `oneOf` and `anyOf` opened. */
  alternatives(schema: Schema): readonly Schema[] {
    if (typeof schema['$ref'] === 'string')
      return this.#resolve(schema['$ref']).flatMap((one) => this.alternatives(one));
    const branches = [schema['oneOf'], schema['anyOf']].flatMap((list) => (Array.isArray(list) ? list : []));
    return [schema, ...branches.filter(isSchema).flatMap((branch) => this.alternatives(branch))];
  }

  /** Empty for an unresolvable reference: ajv has refused such a schema, or a plugin's schema names an unknown one. */
  #resolve(ref: string): readonly Schema[] {
    const [id = '', fragment = ''] = ref.split('#');
    const found = valueAt(this.#byId.get(id), fragment.split('/').slice(1));
    return isSchema(found) ? [found] : [];
  }
}

/** False for a branch of a tagged union whose constant differs from the file's value. */
function fitsTag(schema: Schema, tagOf: TagOf | undefined): boolean {
  const properties = schema['properties'];
  if (!tagOf || !isSchema(properties)) return true;
  return Object.entries(properties).every(([name, property]) => {
    const constant = valueAt(property, ['const']);
    const given = tagOf(name);
    return constant === undefined || given === undefined || given === constant;
  });
}

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The keys a schema describes. */
export function propertiesOf(schema: unknown): Schema {
  const properties = valueAt(schema, ['properties']);
  return isSchema(properties) ? properties : {};
}
