import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { valueAt } from './pointer.ts';
import { readSchema, SCHEMA_NAMES, type Schema, type SchemaName } from './schema-files.ts';

/** The settings schemas, compiled for validation and open to questions about a place in a file. */
export class Schemas {
  readonly #roots: ReadonlyMap<SchemaName, Schema>;
  readonly #byId: ReadonlyMap<string, Schema>;
  readonly #validators: ReadonlyMap<SchemaName, ValidateFunction>;

  constructor(read: (name: SchemaName) => Schema = readSchema) {
    const roots = SCHEMA_NAMES.map((name) => [name, read(name)] as const);
    const ajv = createAjv(roots.map(([, schema]) => schema));
    this.#roots = new Map(roots);
    this.#byId = new Map(roots.map(([, schema]) => [String(schema['$id']), schema]));
    this.#validators = new Map(roots.map(([name, schema]) => [name, ajv.compile({ $ref: String(schema['$id']) })]));
  }

  validate(name: SchemaName, json: unknown): readonly ErrorObject[] {
    const validate = this.#validators.get(name)!;
    return validate(json) ? [] : (validate.errors ?? []);
  }

  root(name: SchemaName): readonly Schema[] {
    return this.alternatives(this.#roots.get(name)!);
  }

  /** The schemas that may describe a member, given those that may describe its container. */
  child(containers: readonly Schema[], key: string | number, tagOf?: (property: string) => unknown): readonly Schema[] {
    const fitting = containers.filter((schema) => fitsTag(schema, tagOf));
    // A tag that fits no branch is a typo: better all of them than none, or a secret would not be known as one.
    const typo = !fitting.some((schema) => isSchema(schema['properties']));
    return (typo ? containers : fitting)
      .flatMap((schema) => {
        const member = typeof key === 'number' ? schema['items'] : (valueAt(schema['properties'], [key]) ?? schema['additionalProperties']);
        return isSchema(member) ? this.alternatives(member) : [];
      });
  }

  /** A schema without its indirections: `$ref` followed, `oneOf` and `anyOf` opened. */
  alternatives(schema: Schema): readonly Schema[] {
    if (typeof schema['$ref'] === 'string') return this.alternatives(this.#resolve(schema['$ref']));
    const branches = [schema['oneOf'], schema['anyOf']].flatMap((list) => (Array.isArray(list) ? list : [])).filter(isSchema);
    return [schema, ...branches.flatMap((branch) => this.alternatives(branch))];
  }

  #resolve(ref: string): Schema {
    const [id = '', fragment = ''] = ref.split('#');
    const found = valueAt(this.#byId.get(id), fragment.split('/').slice(1));
    if (!isSchema(found)) throw new Error(`The schemas name ${ref}, which does not exist.`);
    return found;
  }
}

function createAjv(schemas: readonly Schema[]): Ajv {
  const ajv = new Ajv({
    allErrors: true,
    verbose: true,
    strict: true,
    allowUnionTypes: true,
    // `required` inside anyOf branches names properties that their parent defines.
    strictRequired: false,
    discriminator: true,
  });
  addFormats.default(ajv, ['date-time']);
  ajv.addVocabulary(['x-secret', 'tsType']);
  return ajv.addSchema([...schemas]);
}

/** A branch of a tagged union is ruled out when a constant of it differs from what the file says. */
function fitsTag(schema: Schema, tagOf: ((property: string) => unknown) | undefined): boolean {
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

let compiled: Schemas | undefined;
/** Compiled once per process: the package's schemas do not change while it runs. */
export const packageSchemas = (): Schemas => (compiled ??= new Schemas());
