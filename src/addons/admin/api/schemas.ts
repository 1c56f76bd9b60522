import type { ValidateFunction } from 'ajv';
import { isObject } from '../../../core/kernel/index.ts';
import { toPointer, valueAt } from '../../../core/settings/schema/pointer.ts';
import { readSchema, SCHEMA_NAMES, SchemaTree, type Schema } from '../../../core/settings/schema/schema-files.ts';
import { createAjv } from '../../../core/settings/schema/schemas.ts';
import { SEALED_OF_ALERTS, SEALED_OF_PROVIDERS } from '../../../core/settings/source/stored-objects.ts';
import { schemaProblems } from '../../../core/settings/problems/schema-problems.ts';
import { ANSWER_SCHEMAS, PROBLEM_SCHEMA } from './answer-schemas.ts';
import { BODY_SCHEMAS, type BodyName } from './body-schemas.ts';
import { ApiProblem } from './problems.ts';
import { CONFIG, ENTRY } from './console-schemas.ts';
import type { NOUNS, ObjectKind } from './routes.ts';
import { BASE, own, OWN } from './schema-words.ts';

/** Fields of an entry of a settings file that are not in the spec of its object: the API makes the secrets of keys itself. */
const NOT_IN_SPEC: Readonly<Partial<Record<ObjectKind, readonly string[]>>> = {
  keys: ['id', 'key', 'digest', 'previous'],
  prices: ['id'],
  alerts: ['id'],
  providers: ['slug'],
};
/** Fields of a spec that no answer has. */
export const hiddenOf = (kind: ObjectKind): readonly string[] => [
  ...(NOT_IN_SPEC[kind] ?? []),
  ...(kind === 'alerts' ? SEALED_OF_ALERTS : kind === 'providers' ? SEALED_OF_PROVIDERS : []),
];

function derived(
  file: 'keys' | 'teams' | 'prices' | 'server',
  definition: string,
  change: (properties: Schema, rest: Schema) => Schema,
): Schema {
  const found = valueAt(readSchema(file), ['definitions', definition]);
  if (!isObject(found) || !isObject(found['properties']))
    throw new Error(`${file}.json has no definition of ${definition}`);
  const { properties, ...rest } = found;
  return change(properties, rest);
}

const NODE: Schema = {
  description: 'The organization, team or key.',
  type: 'string',
  pattern: '^(?:organization|team|key):[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
  examples: ['team:search'],
};

const ofNode =
  (title: string) =>
  (properties: Schema, { required = [], minProperties: _, examples: __, ...rest }: Schema): Schema => ({
    ...rest,
    title,
    required: ['node', ...(Array.isArray(required) ? required : [])],
    properties: { node: NODE, ...properties },
    minProperties: 2,
  });

const without = (kind: ObjectKind, properties: Schema): Schema =>
  Object.fromEntries(Object.entries(properties).filter(([name]) => !NOT_IN_SPEC[kind]?.includes(name)));

/** A whole file. In a build without the add-on no prompt is written. */
function promptSpec(): Schema {
  if (!SCHEMA_NAMES.includes('prompt')) return { type: 'object' };
  const { $schema: _, $id: __, definitions: ___, ...file } = readSchema('prompt');
  return { ...file, title: 'PromptSpec' };
}

/** The entry of a settings file that an object stands for. */
const specs = (): Readonly<Record<`${(typeof NOUNS)[ObjectKind]}_spec`, Schema>> => ({
  organization_spec: { $ref: `${BASE}teams.json#/definitions/organization` },
  team_spec: { $ref: `${BASE}teams.json#/definitions/team` },
  key_spec: derived('keys', 'key', (properties, { oneOf: _, required: __, writeOnly: ___, ...rest }) => ({
    ...rest,
    title: 'KeySpec',
    description: 'What a key may do, with the fields of an entry of keys.yaml.',
    properties: without('keys', properties),
  })),
  budget_spec: derived('teams', 'budget', ofNode('BudgetSpec')),
  limit_spec: derived('teams', 'limits', ofNode('LimitSpec')),
  price_spec: derived('prices', 'rule', (properties, { examples: _, ...rest }) => ({
    ...rest,
    title: 'PriceSpec',
    properties: without('prices', properties),
  })),
  // Answers have neither the address nor the secret, so the handler demands them of a new object.
  alert_spec: derived('server', 'alert_webhook', (properties, { required: _, examples: __, ...rest }) => ({
    ...rest,
    title: 'AlertSpec',
    description: 'A webhook that gets alerts. `url` and `secret` are written and never shown.',
    properties: without('alerts', properties),
  })),
  provider_spec: ENTRY,
  prompt_spec: promptSpec(),
  config_spec: CONFIG,
});

/** The schemas of the admin API as one document, whose references are absolute: those that validate, and those of the OpenAPI document. */
export function adminSchema(): Schema {
  return { $id: OWN, definitions: { ...specs(), ...BODY_SCHEMAS, ...ANSWER_SCHEMAS, problem: PROBLEM_SCHEMA } };
}

/** The files with definitions that the API's schemas refer to. */
export const readReferred = (): readonly Schema[] =>
  (['server', 'keys', 'teams', 'prices', 'prompt'] as const)
    .filter((name) => SCHEMA_NAMES.includes(name))
    .map((name) => readSchema(name));

interface CompiledSchemas {
  validate(name: string): ValidateFunction;
  readonly tree: SchemaTree;
}

let compiled: CompiledSchemas | undefined;

/** Compiled at the first write: most gateways have none. */
function compile(): CompiledSchemas {
  const schemas = [adminSchema(), ...readReferred()];
  const ajv = createAjv({ trusted: true }).addSchema([...schemas]);
  return { validate: (name) => ajv.getSchema(`${OWN}#/definitions/${name}`)!, tree: new SchemaTree(schemas) };
}

/** Checks a value with a schema of the API. Throws `invalid_body`. @param at where the value is in the body */
export function checkAgainst(name: BodyName | keyof ReturnType<typeof specs>, json: unknown, at = ''): void {
  compiled ??= compile();
  const validate = compiled.validate(name);
  if (validate(json)) return;
  const { tree } = compiled;
  const problems = schemaProblems(
    validate.errors ?? [],
    { json, origins: new Map() },
    { tree, root: tree.alternatives(own(name)) },
  );
  throw invalidBody(
    problems.map(({ path, message, suggestion }) => ({
      pointer: at + toPointer(path),
      message: suggestion === undefined ? message : `${message}; did you mean "${suggestion}"?`,
    })),
  );
}

export const invalidBody = (errors: ApiProblem['errors']): ApiProblem =>
  new ApiProblem(
    'invalid_body',
    errors[0] ? `${errors[0].pointer || '/'}: ${errors[0].message}` : 'The body is not valid.',
    { errors: errors.slice(0, 50) },
  );
