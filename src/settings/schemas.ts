import { Ajv, type ErrorObject } from 'ajv';
import addFormats from 'ajv-formats';
import { readSchema, SCHEMA_NAMES, type Schema, type SchemaName } from './schema-files.ts';
import { SchemaTree } from './schema-tree.ts';

/** The settings schemas, compiled for validation and open to questions about a place in a file. */
export class Schemas {
  readonly tree: SchemaTree;
  readonly #roots: ReadonlyMap<SchemaName, Schema>;
  readonly #ajv: Ajv;

  constructor(read: (name: SchemaName) => Schema = readSchema) {
    const roots = SCHEMA_NAMES.map((name) => [name, read(name)] as const);
    this.#ajv = createAjv({ trusted: true }).addSchema(roots.map(([, schema]) => schema));
    this.tree = new SchemaTree(roots.map(([, schema]) => schema));
    this.#roots = new Map(roots);
  }

  validate(name: SchemaName, json: unknown): readonly ErrorObject[] {
    // Compiled when first asked for: a gateway that serves never reads tests.
    const validate = this.#ajv.getSchema(String(this.#roots.get(name)!['$id']))!;
    return validate(json) ? [] : (validate.errors ?? []);
  }

  root(name: SchemaName): readonly Schema[] {
    return this.tree.alternatives(this.#roots.get(name)!);
  }
}

/**
 * A validator that tells everything, for people.
 * @param trusted the schemas are the package's own, which a test holds to draft-07: 40 ms of a command that takes a second
 */
export function createAjv({ trusted = false } = {}): Ajv {
  const ajv = new Ajv({
    allErrors: true,
    verbose: true,
    strict: true,
    allowUnionTypes: true,
    // `required` inside anyOf branches names properties that their parent defines.
    strictRequired: false,
    discriminator: true,
    // Settings are read a few times in a process's life: optimizing takes longer than all of them (75 of 200 ms, measured).
    code: { optimize: false },
    ...(trusted && { validateSchema: false, meta: false }),
  });
  addFormats.default(ajv);
  ajv.addVocabulary(['x-secret', 'tsType']);
  return ajv;
}

let compiled: Schemas | undefined;
/** Compiled once per process: the package's schemas do not change while it runs. */
export const packageSchemas = (): Schemas => (compiled ??= new Schemas());
