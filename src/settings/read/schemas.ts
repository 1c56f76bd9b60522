import { Ajv, type CodeKeywordDefinition, type ErrorObject, type ValidateFunction } from 'ajv';
import { callRef } from 'ajv/dist/vocabularies/core/ref.js';
import addFormats from 'ajv-formats';
import { readSchema, SCHEMA_NAMES, type Schema, type SchemaName, SchemaTree } from './schema-files.ts';

/** The settings schemas: compiled for validation, and as a tree to look up the schema of a path. */
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
    // Compiled on first use: a serving gateway never reads test files.
    const validate = this.#ajv.getSchema(String(this.#roots.get(name)!['$id']))!;
    return validate(json) ? [] : (validate.errors ?? []);
  }

  root(name: SchemaName): readonly Schema[] {
    return this.tree.alternatives(this.#roots.get(name)!);
  }
}

/**
 * A validator that reports every error, for diagnostics.
 * @param trusted the schemas are the package's own, with absolute `$ref`s. Tests check them against draft-07 and compile them
 * whole, so here each part is compiled when a file first has a value there: both steps took a third of a command's time.
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
    // A process reads settings a few times: optimizing takes longer than all the validations (75 of 200 ms, measured).
    code: { optimize: false },
    // With this the discriminator keyword reads its branches, of any length, instead of compiling them.
    ...(trusted && { validateSchema: false, meta: false, inlineRefs: Infinity }),
  });
  if (trusted) ajv.removeKeyword('$ref').addKeyword(lazyRef(ajv));
  addFormats.default(ajv);
  ajv.addVocabulary(['x-secret', 'x-filled', 'tsType']);
  return ajv;
}

let compiled: Schemas | undefined;
/** Compiled once per process: the package's schemas do not change while it runs. */
export const packageSchemas = (): Schemas => (compiled ??= new Schemas());

interface Validator {
  (data: unknown, context?: Parameters<ValidateFunction>[1]): unknown;
  errors?: null | ErrorObject[] | undefined;
}

/** A `$ref` that compiles its target when first followed: one folder uses a small part of the schemas. */
function lazyRef(ajv: Ajv): CodeKeywordDefinition {
  const followed = new Map<string, Validator>();
  const follow = (ref: string): Validator => {
    let target: Validator | undefined;
    const validate: Validator = (data, context) => {
      target ??= ajv.getSchema(ref);
      if (!target) throw new Error(`a schema refers to ${ref}, which does not exist`);
      const valid = target(data, context);
      validate.errors = target.errors;
      return valid;
    };
    followed.set(ref, validate);
    return validate;
  };
  return {
    keyword: '$ref',
    schemaType: 'string',
    code(cxt) {
      const ref = String(cxt.schema);
      callRef(cxt, cxt.gen.scopeValue('validate', { ref: followed.get(ref) ?? follow(ref) }));
    },
  };
}
