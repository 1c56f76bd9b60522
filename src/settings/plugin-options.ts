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

/** A plugin's schema for its options. `trusted`: a built-in plugin's, which a test holds to draft-07. */
export interface OptionsSchema {
  readonly schema: object;
  readonly trusted: boolean;
}

/** Checks a plugin's options against its own schema; problems are told like those of every other setting. True when there are none. */
export function checkOptions(of: OptionsSchema, options: unknown, path: Path, report: Report): boolean {
  const own = compileOnce(of);
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

/** By their text: most built-in plugins have no options and say so alike. */
const ours = new Map<string, Compiled>();

/** A plugin from outside may come with a schema that is none: its author's mistake, which must not end the process. */
function compileOnce({ schema, trusted }: OptionsSchema): Compiled | Error {
  const text = trusted ? JSON.stringify(schema) : '';
  const known = compiled.get(schema) ?? ours.get(text);
  if (known) return known;
  try {
    const id = '$id' in schema ? String(schema.$id) : ANONYMOUS;
    const own = absoluteRefs({ ...schema, $id: id }, id);
    // One validator per schema: two plugins may use the same `$id`.
    const made = { validate: createAjv({ trusted }).compile(own), schema: own, tree: new SchemaTree([own]) };
    if (trusted) ours.set(text, made);
    else compiled.set(schema, made);
    return made;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

const ANONYMOUS = 'gatehouse:plugin-options';
