import { Ajv, type CodeKeywordDefinition, type ErrorObject, type ValidateFunction } from 'ajv';
import { callRef } from 'ajv/dist/vocabularies/core/ref.js';
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
 * @param trusted the schemas are the package's own, their `$ref`s absolute. Tests hold them to draft-07 and compile them whole, so
 * that here each part is compiled when a file first has something there: both together were a third of a command's time.
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
    // What a discriminator refers to is read, not compiled, however long it is.
    ...(trusted && { validateSchema: false, meta: false, inlineRefs: Infinity }),
  });
  if (trusted) ajv.removeKeyword('$ref').addKeyword(lazyRef(ajv));
  addFormats.default(ajv);
  ajv.addVocabulary(['x-secret', 'tsType']);
  return ajv;
}

let compiled: Schemas | undefined;
/** Compiled once per process: the package's schemas do not change while it runs. */
export const packageSchemas = (): Schemas => (compiled ??= new Schemas());

interface Validator {
  (data: unknown, context?: Parameters<ValidateFunction>[1]): unknown;
  errors?: null | ErrorObject[] | undefined;
}

/** `$ref` that compiles what it leads to when it is first followed: of what settings may say, one folder says little. */
function lazyRef(ajv: Ajv): CodeKeywordDefinition {
  const followed = new Map<string, Validator>();
  const follow = (ref: string): Validator => {
    let target: Validator | undefined;
    const validate: Validator = (data, context) => {
      target ??= ajv.getSchema(ref);
      if (!target) throw new Error(`a schema refers to ${ref}, which is not there`);
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
