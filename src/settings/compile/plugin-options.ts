import type { ErrorObject, ValidateFunction } from 'ajv';
import type { Report } from '../../plugin/index.ts';
import type { JsonPath } from '../read/pointer.ts';
import { absoluteRefs, type Schema } from '../read/schema-files.ts';
import { schemaProblems } from '../problems/schema-problems.ts';
import { SchemaTree } from '../read/schema-tree.ts';
import { fillDefaults } from './option-defaults.ts';
import { createAjv } from '../read/schemas.ts';

interface Compiled {
  readonly validate: ValidateFunction;
  readonly schema: Schema;
  readonly tree: SchemaTree;
  /** Fills in defaults; undefined where the schema has none. */
  readonly fill: ((options: unknown) => unknown) | undefined;
}

type Options = Readonly<Record<string, unknown>>;

/** Schemas are compiled once, because plugins live as long as the process. */
const compiled = new WeakMap<object, Compiled>();

/** A plugin's schema for its options. `trusted`: the schema of a built-in plugin, which a test checks against draft-07. */
export interface OptionsSchema {
  readonly schema: object;
  readonly trusted: boolean;
}

/**
 * Validates a plugin's options against its schema and reports problems as for every other setting. Returns the options with the
 * schema's defaults filled in; undefined where there are problems.
 */
export function readOptions(of: OptionsSchema, options: Options, path: JsonPath, report: Report): Options | undefined {
  const own = compileOnce(of);
  if (own instanceof Error) {
    report({ path, message: `the plugin's schema for its options is invalid: ${own.message}` });
    return undefined;
  }
  const filled = own.fill?.(options) ?? options;
  if (own.validate(filled)) return filled as Options;
  const problems = problemsOf(errorsOf(own, options, filled), options, own);
  for (const problem of problems) report({ ...problem, path: [...path, ...problem.path] });
  return undefined;
}

/**
 * The errors of the options as written, without defaults: a misspelt key should be matched with the key that is missing in the
 * file, which a default would supply.
 */
function errorsOf({ validate }: Compiled, options: unknown, filled: unknown): readonly ErrorObject[] {
  const withDefaults = validate.errors ?? [];
  validate(options);
  const written = (validate.errors ?? []).filter((error) => !isFilledIn(error, filled));
  return written.length > 0 ? written : withDefaults;
}

function isFilledIn({ keyword, instancePath, params }: ErrorObject, filled: unknown): boolean {
  if (keyword !== 'required') return false;
  const object = instancePath
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce(
      (value: unknown, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
      filled,
    );
  return typeof object === 'object' && object !== null && Reflect.has(object, String(params['missingProperty']));
}

function problemsOf(errors: readonly ErrorObject[], json: unknown, { schema, tree }: Compiled) {
  // References are unknown here; the reporter removes their values from messages (conceal.ts).
  return schemaProblems(errors, { json, origins: new Map() }, { tree, root: tree.alternatives(schema) });
}

/** By the text of the schema: most built-in plugins have no options and the same schema. */
const builtIn = new Map<string, Compiled>();

/** The schema of an external plugin may be invalid: that must not end the process. */
function compileOnce({ schema, trusted }: OptionsSchema): Compiled | Error {
  const text = trusted ? JSON.stringify(schema) : '';
  const known = compiled.get(schema) ?? builtIn.get(text);
  if (known) return known;
  try {
    const id = '$id' in schema ? String(schema.$id) : ANONYMOUS;
    const own = absoluteRefs({ ...schema, $id: id }, id);
    // One validator per schema: two plugins may use the same `$id`.
    const validate = createAjv({ trusted }).compile(own);
    const made = { validate, schema: own, tree: new SchemaTree([own]), fill: fillDefaults(own, { trusted }) };
    if (trusted) builtIn.set(text, made);
    else compiled.set(schema, made);
    return made;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

const ANONYMOUS = 'gatehouse:plugin-options';
