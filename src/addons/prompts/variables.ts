import type { ErrorObject, ValidateFunction } from 'ajv';
import { loadAjv, loadRe2 } from '../../core/kernel/on-demand.ts';
import type { PromptVariable } from '../../../schemas/types.generated.ts';
import { isObject } from '../../core/kernel/index.ts';

interface VariableFault {
  /** `variables.ticket` */
  readonly param: string;
  readonly message: string;
  readonly missing: boolean;
}

type Declared = ReadonlyMap<string, PromptVariable>;

/** Values that a variable without a schema takes. */
const SCALAR = { type: ['string', 'number', 'boolean'] };
const MEDIA = { type: 'string', minLength: 1 };

export const schemaOf = ({ media, schema }: PromptVariable): object => (media ? MEDIA : (schema ?? SCALAR));

/** Checks one value, such as a default. Returns the first mistake. */
export function valueMistake(variable: PromptVariable, value: unknown): string | undefined {
  const validate = compile(schemaOf(variable));
  return validate(value) ? undefined : mistakeOf(validate.errors).message;
}

/** Checks values and fills in defaults. Schemas take milliseconds to compile, so they do on first use. */
export class VariableCheck {
  readonly #declared: Declared;
  readonly #defaults: Readonly<Record<string, unknown>>;
  #validate: ValidateFunction | undefined;

  constructor(declared: Declared) {
    this.#declared = declared;
    this.#defaults = Object.fromEntries(
      [...declared].flatMap(([name, { default: value }]) => (value === undefined ? [] : [[name, value]])),
    );
  }

  /** The values with defaults, or the first fault. A null counts as omitted, as in a chat request. */
  read(given: Readonly<Record<string, unknown>>): { readonly values: Record<string, unknown> } | VariableFault {
    const isGiven = (name: string): boolean => given[name] !== null;
    const names = Object.keys(given);
    const unknown = names.find((name) => !this.#declared.has(name) && isGiven(name));
    if (unknown !== undefined) {
      const param = `variables.${unknown.slice(0, 100)}`;
      return { param, message: `\`${param}\` is not a variable of this prompt.`, missing: false };
    }
    const own = names.filter(isGiven).map((name) => [name, given[name]] as const);
    const values = Object.fromEntries([...Object.entries(this.#defaults), ...own]);
    const missing = [...this.#declared.keys()].find((name) => !Object.hasOwn(values, name));
    if (missing !== undefined)
      return { param: `variables.${missing}`, message: `\`variables.${missing}\` is required.`, missing: true };
    const validate = (this.#validate ??= compile({
      type: 'object',
      properties: Object.fromEntries([...this.#declared].map(([name, variable]) => [name, schemaOf(variable)])),
    }));
    if (validate(values)) return { values };
    const { path, message } = mistakeOf(validate.errors);
    return { param: `variables${path}`, message: `\`variables${path}\` ${message}.`, missing: false };
  }
}

/** RE2 instead of V8's engine: callers choose the texts, and V8's time is not linear. */
const regExp = Object.assign(
  (pattern: string) => {
    const compiled = loadRe2().RE2JS.compile(pattern);
    return { test: (text: string) => compiled.matcher(text).find() };
  },
  { code: 'RE2' },
);

function compile(schema: object): ValidateFunction {
  const ajv = new (loadAjv().Ajv)({
    strict: true,
    allowUnionTypes: true,
    strictRequired: false,
    strictTypes: false,
    validateSchema: false,
    meta: false,
    code: { regExp },
  });
  return ajv.compile(schema);
}

/** The mistake in a pattern; undefined for a valid one. */
export function patternMistake(pattern: string): string | undefined {
  try {
    loadRe2().RE2JS.compile(pattern);
    return undefined;
  } catch {
    return 'this is not a pattern of RE2, the dialect of `pattern`';
  }
}

function mistakeOf(errors: readonly ErrorObject[] | null | undefined): { path: string; message: string } {
  const [error] = errors ?? [];
  if (!error) return { path: '', message: 'is not valid' };
  const keys = error.instancePath.split('/').slice(1);
  const path = keys.map((key) =>
    /^\d+$/.test(key) ? `[${key}]` : `.${key.replaceAll('~1', '/').replaceAll('~0', '~').slice(0, 100)}`,
  );
  return { path: path.join(''), message: inWords(error) };
}

function inWords({ keyword, params, message = 'is not valid' }: ErrorObject): string {
  const allowed: unknown = isObject(params) ? params['allowedValues'] : undefined;
  if (keyword === 'enum' && Array.isArray(allowed))
    return `must be one of ${allowed.map((value) => JSON.stringify(value)).join(', ')}`;
  if (keyword === 'type') return `must be ${[params['type']].flat().join(' or ').replaceAll(',', ' or ')}`;
  return message;
}
