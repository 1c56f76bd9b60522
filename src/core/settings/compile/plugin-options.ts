import type { Ajv, ErrorObject, Options as AjvOptions, ValidateFunction } from 'ajv';
import { loadAjv, loadFormats } from '../../kernel/on-demand.ts';
import { compiledAhead } from '../../kernel/compiled-ahead.ts';
import type { Report } from '../../kernel/report.ts';
import { isObject } from '../../kernel/index.ts';
import { Secret } from '../../../plugin/index.ts';
import { fromPointer, valueAt, type JsonPath } from '../schema/pointer.ts';
import { absoluteRefs, type Schema, SchemaTree } from '../schema/schema-files.ts';
import { schemaProblems } from '../problems/schema-problems.ts';
import { createAjv } from '../schema/schemas.ts';
import { toError } from '../../kernel/outside/thrown.ts';

interface CompiledOptions {
  readonly validate: ValidateFunction;
  readonly schema: Schema;
  readonly tree: SchemaTree;
  /** Fills in defaults; undefined where the schema has none. */
  readonly fill: ((options: unknown) => unknown) | undefined;
}

type Options = Readonly<Record<string, unknown>>;

/** Schemas are compiled once, because plugins live as long as the process. */
const compiled = new WeakMap<object, CompiledOptions>();

/** A plugin's schema for its options. `trusted`: the schema of a built-in plugin, which a test checks against draft-07. */
interface OptionsSchema {
  readonly schema: object;
  readonly trusted: boolean;
}

/**
 * Validates options and reports problems at `path`. Returns them with the defaults; undefined with problems. An option
 * `secret` stays a Secret where the plugin's schema says `x-secret`, and is its text elsewhere.
 */
export function readOptions(of: OptionsSchema, given: Options, path: JsonPath, report: Report): Options | undefined {
  const { secret } = given;
  const options = secret instanceof Secret ? { ...given, secret: secret.reveal() } : given;
  const own = compileOnce(of);
  if (own instanceof Error) {
    report({ path, message: `the plugin's schema for its options is invalid: ${own.message}` });
    return undefined;
  }
  const filled = own.fill?.(options) ?? options;
  if (own.validate(filled)) {
    const keepsSecret = secret instanceof Secret && valueAt(own.schema, ['properties', 'secret', 'x-secret']) === true;
    return keepsSecret ? { ...(filled as Options), secret } : (filled as Options);
  }
  const problems = problemsOf(errorsOf(own, options, filled), options, own);
  for (const problem of problems) report({ ...problem, path: [...path, ...problem.path] });
  return undefined;
}

/** Errors of the options without defaults, which could supply the key that a misspelt one stands for. */
function errorsOf({ validate }: CompiledOptions, options: unknown, filled: unknown): readonly ErrorObject[] {
  const withDefaults = validate.errors ?? [];
  validate(options);
  const written = (validate.errors ?? []).filter((error) => !isFilledIn(error, filled));
  return written.length > 0 ? written : withDefaults;
}

function isFilledIn({ keyword, instancePath, params }: ErrorObject, filled: unknown): boolean {
  if (keyword !== 'required') return false;
  const path = [...fromPointer(instancePath, filled), String(params['missingProperty'])];
  return valueAt(filled, path) !== undefined;
}

function problemsOf(errors: readonly ErrorObject[], json: unknown, { schema, tree }: CompiledOptions) {
  // References are unknown here; the reporter removes their values from messages (conceal.ts).
  return schemaProblems(errors, { json, origins: new Map() }, { tree, root: tree.alternatives(schema) });
}

/** By the text of the schema: most built-in plugins have no options and the same schema. */
const builtIn = new Map<string, CompiledOptions>();

/** The schema of an external plugin may be invalid: that must not end the process. */
function compileOnce({ schema, trusted }: OptionsSchema): CompiledOptions | Error {
  const text = trusted ? JSON.stringify(schema) : '';
  const known = compiled.get(schema) ?? builtIn.get(text);
  if (known) return known;
  try {
    const own = namedSchema(schema);
    // One validator per schema: two plugins may use the same `$id`.
    const validate = compiledAhead.get(text) ?? createAjv({ trusted }).compile(own);
    const made = { validate, schema: own, tree: new SchemaTree([own]), fill: fillDefaults(own, text) };
    if (trusted) builtIn.set(text, made);
    else compiled.set(schema, made);
    return made;
  } catch (error) {
    return toError(error);
  }
}

export function namedSchema(schema: object): Schema {
  const id = '$id' in schema ? String(schema.$id) : 'gatehouse:plugin-options';
  return absoluteRefs({ ...schema, $id: id }, id);
}

/**
 * Returns a function that fills a schema's defaults into options; undefined where the schema has none. As with ajv's
 * `useDefaults`, it fills `properties` and `items` at any depth, but not alternatives (`anyOf`, `oneOf`, `if`), nor an omitted
 * object without a default of its own. Throws for a default that its own schema refuses: that is a mistake of the plugin's
 * author, not of the settings.
 */
function fillDefaults(schema: Schema, trustedText: string): ((options: unknown) => unknown) | undefined {
  const places = defaultsOf(schema);
  if (places.length === 0) return undefined;
  const fill = compiledAhead.get(fillerOf(trustedText)) ?? compileFiller(schema, trustedText === '' ? places : []);
  return (options) => {
    const filled = copyOf(options);
    fill(filled);
    return filled;
  };
}

/** The name of the function that fills in the defaults, among those that are compiled ahead. */
export const fillerOf = (text: string): string => `defaults of ${text}`;

/** Not strict: the strict validator has checked the schema already, and it ignores defaults. */
export const FILLING = {
  useDefaults: true,
  strict: false,
  allErrors: true,
  validateSchema: false,
} as const satisfies AjvOptions;

/** @param places defaults to check; tests check those of the built-in plugins */
function compileFiller(schema: Schema, places: readonly DefaultPlace[]): ValidateFunction {
  const ajv = new (loadAjv().Ajv)(FILLING);
  loadFormats().default(ajv);
  const fill = ajv.compile(schema);
  for (const place of places) checkDefault(place, ajv, schema);
  return fill;
}

interface DefaultPlace {
  /** JSON pointer of the option's schema. */
  readonly pointer: string;
  readonly name: string;
  readonly value: unknown;
}

function checkDefault({ pointer, name, value }: DefaultPlace, ajv: Pick<Ajv, 'compile'>, schema: Schema): void {
  const validate = ajv.compile({ $ref: `${String(schema['$id'])}#${pointer}` });
  if (validate(copyOf(value))) return;
  throw new Error(
    `the default of \`${name}\` is refused by its own schema: ${(validate.errors ?? []).map(inWords).join('; ')}`,
  );
}

const inWords = ({ instancePath, message = '' }: ErrorObject): string =>
  [instancePath, message].filter(Boolean).join(' ');

export const defaultsOf = (schema: Schema): readonly DefaultPlace[] => [...defaultsIn(schema, '')];

function* defaultsIn(schema: unknown, pointer: string): Generator<DefaultPlace> {
  if (!isObject(schema)) return;
  for (const list of ['properties', 'definitions', '$defs']) {
    const named = schema[list];
    if (!isObject(named)) continue;
    for (const [name, own] of Object.entries(named)) {
      const at = `${pointer}/${list}/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`;
      if (isObject(own) && 'default' in own) yield { pointer: at, name, value: own['default'] };
      yield* defaultsIn(own, at);
    }
  }
  if (!isObject(schema['items'])) return;
  yield* defaultsIn(schema['items'], `${pointer}/items`);
}

/** A deep copy, because settings are shared. Other than plain values (a secret) stay the same object. */
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isObject(value) || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, copyOf(one)]));
}
