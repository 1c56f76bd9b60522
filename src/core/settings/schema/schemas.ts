import type { ErrorObject, Ajv, CodeKeywordDefinition, Options, ValidateFunction } from 'ajv';
import { compiledAhead } from '../../kernel/compiled-ahead.ts';
import { readSchema, SCHEMA_NAMES, type Schema, type SchemaName, SchemaTree } from './schema-files.ts';
import { loadAjv, loadFormats, loadRef } from '../../kernel/on-demand.ts';

/** How settings and options are checked: every error is reported, for diagnostics. */
export const SETTINGS_CHECK = {
  allErrors: true,
  verbose: true,
  strict: true,
  allowUnionTypes: true,
  // `required` inside anyOf branches names properties that their parent defines.
  strictRequired: false,
  discriminator: true,
} as const satisfies Options;

/** Keywords of the package's own schemas that check nothing. */
export const OWN_KEYWORDS = ['x-secret', 'x-filled', 'x-login', 'tsType'];

/**
 * A compiler of schemas for settings.
 * @param trusted the schemas are the package's own, with absolute `$ref`s. Tests check them against draft-07 and compile them
 * whole, so here each part is compiled when a file first has a value there: both steps took a third of a command's time.
 */
export function createAjv({ trusted = false } = {}): Ajv {
  const ajv = new (loadAjv().Ajv)({
    ...SETTINGS_CHECK,
    // A process reads settings a few times: optimizing takes longer than all the validations (75 of 200 ms, measured).
    code: { optimize: false },
    // With this the discriminator keyword reads its branches, of any length, instead of compiling them.
    ...(trusted && { validateSchema: false, meta: false, inlineRefs: Infinity }),
  });
  if (trusted) ajv.removeKeyword('$ref').addKeyword(lazyRef(ajv));
  loadFormats().default(ajv);
  ajv.addVocabulary(OWN_KEYWORDS);
  return ajv;
}

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
      loadRef().callRef(cxt, cxt.gen.scopeValue('validate', { ref: followed.get(ref) ?? follow(ref) }));
    },
  };
}

/** The settings schemas: compiled for validation, and as a tree to look up the schema of a path. */
export class Schemas {
  readonly tree: SchemaTree;
  readonly #roots: ReadonlyMap<SchemaName, Schema>;
  #ajv: ReturnType<typeof createAjv> | undefined;

  constructor(read: (name: SchemaName) => Schema = readSchema, names: readonly SchemaName[] = SCHEMA_NAMES) {
    const roots = names.map((name) => [name, read(name)] as const);
    this.tree = new SchemaTree(roots.map(([, schema]) => schema));
    this.#roots = new Map(roots);
  }

  /** False for a file of an add-on that is not in this build. */
  has(name: SchemaName): boolean {
    return this.#roots.has(name);
  }

  validate(name: SchemaName, json: unknown): readonly ErrorObject[] {
    const id = String(this.#roots.get(name)!['$id']);
    const validate = compiledAhead.get(id) ?? this.#compile(id);
    return validate(json) ? [] : (validate.errors ?? []);
  }

  root(name: SchemaName): readonly Schema[] {
    return this.tree.alternatives(this.#roots.get(name)!);
  }

  /** Compiled on first use: a serving gateway never reads test files. */
  #compile(id: string) {
    this.#ajv ??= createAjv({ trusted: true }).addSchema([...this.#roots.values()]);
    return this.#ajv.getSchema(id)!;
  }
}

let compiled: Schemas | undefined;
/** Compiled once per process: the package's schemas do not change while it runs. */
export const packageSchemas = (): Schemas => (compiled ??= new Schemas());
