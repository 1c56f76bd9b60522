import type { ErrorObject, ValidateFunction } from 'ajv';
import type { Report } from '../plugin/index.ts';
import type { Path } from './pointer.ts';
import { absoluteRefs, type Schema } from './schema-files.ts';
import { schemaProblems } from './schema-problems.ts';
import { SchemaTree } from './schema-tree.ts';
import { createAjv } from './schemas.ts';

interface Compiled {
  readonly validate: ValidateFunction;
  readonly schema: Schema;
  readonly tree: SchemaTree;
}

/** Plugins live as long as the process, so their schemas are compiled once. */
const compiled = new WeakMap<object, Compiled>();

/** Checks a plugin's options against its own schema; problems are told like those of every other setting. True when there are none. */
export function checkOptions(schema: object, options: unknown, path: Path, report: Report): boolean {
  const own = compileOnce(schema);
  if (own instanceof Error) {
    report({ path, message: `the plugin's schema for its options is not usable: ${own.message}` });
    return false;
  }
  const problems = own.validate(options) ? [] : problemsOf(own.validate.errors ?? [], options, own);
  for (const problem of problems) report({ ...problem, path: [...path, ...problem.path] });
  return problems.length === 0;
}

function problemsOf(errors: readonly ErrorObject[], json: unknown, { schema, tree }: Compiled) {
  // What came by reference is not known here; the report takes it out of the messages (conceal.ts).
  return schemaProblems(errors, { json, origins: new Map() }, { tree, root: tree.alternatives(schema) });
}

/** A plugin from outside may come with a schema that is none: its author's mistake, which must not end the process. */
function compileOnce(schema: object): Compiled | Error {
  const known = compiled.get(schema);
  if (known) return known;
  try {
    const id = '$id' in schema ? String(schema.$id) : ANONYMOUS;
    const own = absoluteRefs({ ...schema, $id: id }, id);
    // One validator per schema: two plugins may use the same `$id`.
    const made = { validate: createAjv().compile(own), schema: own, tree: new SchemaTree([own]) };
    compiled.set(schema, made);
    return made;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

const ANONYMOUS = 'gatehouse:plugin-options';
