import type { ErrorObject } from 'ajv';
import { compiledAhead } from '../../kernel/compiled-ahead.ts';
import { readSchema, SCHEMA_NAMES, type Schema, type SchemaName, SchemaTree } from './schema-files.ts';
import { createAjv } from './settings-ajv.ts';

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
