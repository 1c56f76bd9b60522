import type { ErrorObject } from 'ajv';
import { nearest } from '../../kernel/index.ts';
import type { Problem } from '../../kernel/report.ts';
import { absentAddOn } from './add-on-keys.ts';
import { meantBy } from './foreign-words.ts';
import {
  mergeMisspelt,
  missingKey,
  tagsOf,
  unknownKey,
  type SchemaProblem,
  type ProblemContext,
} from './key-problems.ts';
import { fromPointer, nameOf, toPointer, valueAt, type JsonPath } from '../schema/pointer.ts';
import { inNotationOf, reasonAgainst } from './other-notations.ts';
import {
  alternatives,
  eitherKey,
  exampleInYaml,
  examplesOf,
  firstSentenceOf,
  shortList,
  showValue,
} from '../values/show.ts';
import { settleUnions } from './union-problems.ts';

/** Turns validation errors into problems: one for each mistake, with a readable message. */
export function schemaProblems(
  errors: readonly ErrorObject[],
  values: ProblemContext['values'],
  schemas: Pick<ProblemContext, 'tree' | 'root'>,
): Problem[] {
  const findings = settleTypes(settleUnions(errors)).flatMap((error) => {
    return explain(error, { path: fromPointer(error.instancePath, values.json), values, ...schemas });
  });
  return mergeMisspelt(findings).filter(({ path }) => !values.origins.get(toPointer(path))?.unresolved);
}

const BOUNDS: ReadonlySet<string> = new Set(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']);

/** A value outside an `enum` needs no second message about its type, and one of the wrong type none about its bounds. */
function settleTypes(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const placesOf = (wanted: string) =>
    new Set(errors.filter(({ keyword }) => keyword === wanted).map(({ instancePath }) => instancePath));
  const [listed, mistyped] = [placesOf('enum'), placesOf('type')];
  return errors.filter(({ keyword, instancePath }) =>
    keyword === 'type' ? !listed.has(instancePath) : !BOUNDS.has(keyword) || !mistyped.has(instancePath),
  );
}

type Mapping = (error: ErrorObject, place: ProblemContext) => SchemaProblem | readonly SchemaProblem[];

/** By ajv keyword. Other keywords keep ajv's own message. */
const MAPPINGS: Readonly<Record<string, Mapping>> = {
  additionalProperties: unknownKey,
  required: missingKey,
  requireOneOf({ params }, { path }) {
    return { path, message: `${eitherKey(params['names'])} is missing`, missing: params['names'] };
  },
  requireOnlyOne({ params, data }, { path }) {
    const names: string[] = params['names'];
    // Reported at the later of the keys present: one of them must be removed.
    const given = Object.keys(Object(data)).findLast((key) => names.includes(key));
    return { path: [...path, given ?? ''], on: 'key', message: `give either ${eitherKey(names)}, not both` };
  },
  enum: ({ params, data }, place) => mustBe(params['allowedValues'].map(String), data, place),
  const: ({ params, data, parentSchema }, place) => {
    const problem = mustBe([String(params['allowedValue'])], data, place);
    // The description of a deprecated key, a switch of another gateway, ends with the behaviour here.
    const behaviour =
      parentSchema?.['deprecated'] === true ? /\. (.+)\.$/.exec(String(parentSchema['description']))?.[1] : undefined;
    return behaviour === undefined
      ? problem
      : { ...problem, message: `${problem.message}: ${behaviour.replace(/^H/, 'h')}` };
  },
  // The keywords inside `propertyNames` report their own errors, too.
  propertyNames: () => [],
  // The keywords inside `then` report their own errors.
  if: () => [],
  discriminator: wrongTag,
  type: wrongType,
  pattern: wrongForm,
  format: wrongForm,
  minimum: reported(({ params }) => `at least ${params['limit']}`),
  maximum: reported(({ params }) => `at most ${params['limit']}`),
  exclusiveMinimum: reported(({ params }) => `more than ${params['limit']}`),
  exclusiveMaximum: reported(({ params }) => `less than ${params['limit']}`),
  minLength: tooShort,
  maxLength({ params }, { path }) {
    return { path, message: `${nameOf(path)} must have at most ${params['limit']} characters` };
  },
  minItems({ params }, { path }) {
    return { path, message: `${nameOf(path)} must have at least ${items(params['limit'])}` };
  },
  minProperties({ parentSchema }, { path }) {
    const example = exampleInYaml(parentSchema);
    const message = `${nameOf(path)} must not be empty`;
    return { path, message: example === undefined ? message : `${message}; an example is \`${example}\`` };
  },
  maxItems({ params, data }, { path }) {
    const given = String(valueAt(data, ['length']));
    return { path, message: `${nameOf(path)} must have at most ${items(params['limit'])}, not ${given}` };
  },
  uniqueItems: duplicate,
};

function explain(error: ErrorObject, place: ProblemContext): readonly SchemaProblem[] {
  if (error.propertyName !== undefined) return [wrongName(error.propertyName, error, place)];
  const mapping = MAPPINGS[error.keyword];
  if (mapping) return [mapping(error, place)].flat();
  return [{ path: place.path, message: `${nameOf(place.path)} ${error.message ?? 'is not valid'}` }];
}

function wrongName(name: string, error: ErrorObject, { path }: ProblemContext): SchemaProblem {
  const reason = NAME_FORMS.get(String(error.schema)) ?? `it ${error.message ?? 'is not valid'}`;
  const example = error.keyword === 'pattern' ? examplesOf(error.parentSchema) : undefined;
  const message = `\`${name.slice(0, 130)}\` cannot be a name here: ${reason}${example === undefined ? '' : `, such as ${example}`}`;
  return { path: [...path, name], on: 'key', message };
}

/** Patterns of names: words explain them better than the expression. */
const NAME_FORMS: ReadonlyMap<string, string> = new Map([
  ['^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$', 'names have letters, digits, `.`, `_` and `-`'],
  [
    String.raw`^([A-Za-z0-9][A-Za-z0-9._:/-]*\*?|\*)$`,
    'names begin with a letter or a digit and have letters, digits, `.`, `_`, `:`, `/` and `-`, and one `*` at most, at the end',
  ],
]);

const shown = (data: unknown, { path, values }: ProblemContext): string =>
  showValue(data, values.origins.get(toPointer(path)));

/** Hides a value that breaks a `writeOnly` schema: it is likely a key itself, in any form. */
function shownOf({ data, parentSchema }: ErrorObject, place: ProblemContext): string {
  const text = shown(data, place);
  return parentSchema?.['writeOnly'] === true && text === JSON.stringify(data)
    ? `this ${typeof data === 'string' ? 'text' : 'value'}`
    : text;
}

function reported(bound: (error: ErrorObject) => string): Mapping {
  return (error, place) => ({
    path: place.path,
    message: `${nameOf(place.path)} must be ${bound(error)}, not ${shown(error.data, place)}`,
  });
}

function mustBe(allowed: readonly string[], data: unknown, place: ProblemContext): SchemaProblem {
  const { path } = place;
  const absent = absentAddOn(place.root, path, data);
  if (absent !== undefined) return { path, message: absent };
  const word = typeof data === 'string' || typeof data === 'number' ? String(data) : '';
  const suggestion = meantBy(word, allowed) ?? nearest(word, allowed);
  const message = `${nameOf(path)} must be ${shortList(allowed)}, not ${shown(data, place)}`;
  return { path, message, ...(suggestion === undefined ? {} : { suggestion }) };
}

function wrongTag(error: ErrorObject, place: ProblemContext): readonly SchemaProblem[] {
  const tag = String(error.params['tag']);
  const data = valueAt(error.data, [tag]);
  // `required` reports a missing tag.
  if (data === undefined) return [];
  const path: JsonPath = [...place.path, tag];
  return [mustBe(tagsOf(place.tree.alternatives(error.parentSchema ?? {}), tag), data, { ...place, path })];
}

function wrongForm(error: ErrorObject, place: ProblemContext): SchemaProblem {
  const { path } = place;
  const wanted = examplesOf(error.parentSchema) ?? FORMS[String(error.params['format'])];
  const given = shownOf(error, place);
  const login = loginKeyOf(error);
  if (login !== undefined)
    return { path, message: `${nameOf(path)} takes a URL without user and password: ${elsewhere(login)}` };
  if (valueAt(error.parentSchema, ['x-secret']) === true) {
    // Its examples are references, which say nothing of the text behind them.
    const form = firstSentenceOf(error.parentSchema);
    if (form !== undefined) return { path, message: `${nameOf(path)} must be ${form}, which ${given} is not` };
  }
  // A plugin's schema may have no examples.
  const message =
    wanted === undefined
      ? `${nameOf(path)} ${error.message ?? 'has another form'}, which ${given} does not`
      : `${nameOf(path)} must look like ${wanted}, not ${given}${reasonOf(wanted, error.data)}`;
  const { data, keyword, schema } = error;
  const isShown = typeof data === 'string' && given === JSON.stringify(data);
  const suggestion = isShown ? intended(keyword, String(schema), data) : undefined;
  return { path, message, ...(suggestion !== undefined && { suggestion }) };
}

function reasonOf(wanted: string, data: unknown): string {
  const reason = typeof data === 'string' ? reasonAgainst(wanted, data) : undefined;
  return reason === undefined ? '' : `: ${reason}`;
}

/** The neighbouring key for the user and password that this URL has. */
function loginKeyOf({ data, parentSchema }: ErrorObject): string | undefined {
  const key = valueAt(parentSchema, ['x-login']);
  return typeof key === 'string' && typeof data === 'string' && data.includes('@') ? key : undefined;
}

const elsewhere = (key: string): string => `write them as USER:PASSWORD in \`${key}: "\${env:${key.toUpperCase()}}"\``;

function intended(keyword: string, form: string, text: string): string | undefined {
  if (keyword === 'pattern') return inNotationOf(form, text);
  return form === 'date-time' && /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : undefined;
}

/** Examples for plugin schemas that have none. */
const FORMS: Readonly<Record<string, string>> = {
  'date-time': '"2027-01-01T00:00:00Z"',
  uri: '"https://example.com/path"',
};

const TYPES: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  string: 'text',
  array: 'a list',
  object: 'an object',
};

const SCALARS: ReadonlySet<string> = new Set(['integer', 'number', 'boolean', 'string']);

function wrongType(error: ErrorObject, place: ProblemContext): SchemaProblem {
  const { path } = place;
  const types = [error.params['type']].flat().filter((type): type is string => type !== 'null');
  const name = nameOf(path);
  if (error.data === null) return { path, message: `${name} is empty; give it a value or remove it` };
  // Times and sizes take a number or text: an example is clearer than the two types.
  const isEither = types.length > 1 && types.every((type) => SCALARS.has(type));
  const example = isEither || isOtherText(types, error) ? examplesOf(error.parentSchema) : undefined;
  if (example !== undefined)
    return { path, message: `${name} must look like ${example}, not ${shownOf(error, place)}` };
  const wanted = `must be ${alternatives(types.map((type) => TYPES[type] ?? type))}${containerExample(types, error)}`;
  const hint = percentHint(error) ?? quotesHint(types, error.data);
  return { path, message: `${name} ${wanted}, not ${shownOf(error, place)}${hint}` };
}

/** Quotes are not enough to make this value the text that the pattern wants: `cap: 500` has no unit. */
function isOtherText(types: readonly string[], { data, parentSchema }: ErrorObject): boolean {
  const pattern = valueAt(parentSchema, ['pattern']);
  if (types.join() !== 'string' || typeof pattern !== 'string') return false;
  return (typeof data === 'number' || typeof data === 'boolean') && !new RegExp(pattern, 'u').test(String(data));
}

const isContainer = (value: unknown): boolean => typeof value === 'object' && value !== null;

/** A type alone does not show what a list or an object has in it. */
function containerExample(types: readonly string[], { parentSchema }: ErrorObject): string {
  const example = types.some((type) => SCALARS.has(type)) ? undefined : exampleInYaml(parentSchema, isContainer);
  return example === undefined ? '' : ` such as \`${example}\``;
}

/** Other gateways take a share, such as 0.8. */
function percentHint({ parentSchema, data }: ErrorObject): string | undefined {
  const description = valueAt(parentSchema, ['description']);
  if (typeof data !== 'number' || typeof description !== 'string' || !/\bpercent/i.test(description)) return undefined;
  return data > 0 && data < 1 ? `: it counts percent, so write ${Math.round(data * 100)}` : undefined;
}

function quotesHint(types: readonly string[], data: unknown): string {
  const onlyText = types.includes('string') && types.length === 1;
  if (onlyText && (typeof data === 'number' || typeof data === 'boolean')) return ': put it in quotes';
  if (typeof data !== 'string') return '';
  const isNumber = types.includes('integer') && /^-?\d+$/.test(data);
  const isBoolean = types.includes('boolean') && /^(true|false)$/.test(data);
  if (isNumber || isBoolean) return ': remove the quotes';
  const amount = types.includes('number') ? amountIn(data) : undefined;
  if (amount !== undefined) return String(amount) === data ? ': remove the quotes' : `: write ${amount}`;
  const counted = types.includes('integer') ? /^(\d+) ?(?:d|days?|%)$/.exec(data)?.[1] : undefined;
  return counted === undefined ? '' : `: write ${counted}`;
}

/** `$1.25` or `1.25 USD` as a number. */
function amountIn(text: string): number | undefined {
  const amount = /^\$? ?(\d+(?:\.\d+)?) ?(?:USD|\$)?$/.exec(text)?.[1];
  return amount === undefined ? undefined : Number(amount);
}

function tooShort({ params, data }: ErrorObject, { path, values }: ProblemContext): SchemaProblem {
  const name = nameOf(path);
  const limit = Number(params['limit']);
  const origin = values.origins.get(toPointer(path));
  const source = origin && origin.sources.length > 0 ? `, as ${showValue(data, origin)} is` : '';
  if (data === '' || limit === 1) return { path, message: `${name} must not be empty${source}` };
  return { path, message: `${name} must have at least ${limit} characters` };
}

function duplicate({ params, data }: ErrorObject, place: ProblemContext): SchemaProblem {
  const later = Math.max(Number(params['i']), Number(params['j']));
  const path: JsonPath = [...place.path, later];
  return { path, message: `${nameOf(place.path)} has ${shown(valueAt(data, [later]), { ...place, path })} twice` };
}

const items = (count: unknown): string => (count === 1 ? 'one item' : `${String(count)} items`);
