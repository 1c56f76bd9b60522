import type { ValidateFunction } from 'ajv';
import { toPointer, valueAt } from '../../settings/read/pointer.ts';
import { isSchema, readSchema, SchemaTree, type Schema } from '../../settings/read/schema-files.ts';
import { createAjv } from '../../settings/read/settings-ajv.ts';
import { schemaProblems } from '../../settings/problems/schema-problems.ts';
import { ANSWER_SCHEMAS, PROBLEM_SCHEMA } from './answer-schemas.ts';
import { BODY_SCHEMAS } from './body-schemas.ts';
import { ApiProblem } from './problems.ts';
import type { BodyName } from './schema-names.ts';
import { BASE, own, OWN } from './schema-words.ts';

/** Fields of an entry of keys.yaml that are not in the document of a key: the API makes secrets itself. */
export const NOT_IN_SPEC = ['id', 'key', 'digest', 'previous'] as const;

const NOUNS = ['organization', 'team', 'key'] as const;

/** The entry of a settings file that an object stands for. */
function specs(): Record<string, Schema> {
  const keys = readSchema('keys');
  const entry = valueAt(keys, ['definitions', 'key']);
  if (!isSchema(entry) || !isSchema(entry['properties'])) throw new Error('keys.json has no definition of a key');
  const { oneOf: _, required: __, writeOnly: ___, properties, ...rest } = entry;
  const kept = Object.entries(properties).filter(([name]) => !NOT_IN_SPEC.some((one) => one === name));
  return {
    organization_spec: { $ref: `${BASE}teams.json#/definitions/organization` },
    team_spec: { $ref: `${BASE}teams.json#/definitions/team` },
    key_spec: {
      ...rest,
      title: 'KeySpec',
      description: 'What a key may do, with the fields of an entry of keys.yaml.',
      properties: Object.fromEntries(kept),
    },
  };
}

/** The schemas of the admin API as one document, whose references are absolute: those that validate, and those of the OpenAPI document. */
export function adminSchema(): Schema {
  return { $id: OWN, definitions: { ...specs(), ...BODY_SCHEMAS, ...ANSWER_SCHEMAS, problem: PROBLEM_SCHEMA } };
}

/** The files with definitions that the API's schemas refer to. */
export const readReferred = (): readonly Schema[] =>
  (['server', 'keys', 'teams'] as const).map((name) => readSchema(name));

interface Compiled {
  validate(name: string): ValidateFunction;
  readonly tree: SchemaTree;
}

let compiled: Compiled | undefined;

/** Compiled at the first write: most gateways have none. */
function compile(): Compiled {
  const schemas = [adminSchema(), ...readReferred()];
  const ajv = createAjv({ trusted: true }).addSchema([...schemas]);
  return { validate: (name) => ajv.getSchema(`${OWN}#/definitions/${name}`)!, tree: new SchemaTree(schemas) };
}

/** Checks a value with a schema of the API. Throws `invalid_body`. @param at where the value is in the body */
export function checkAgainst(name: BodyName | `${(typeof NOUNS)[number]}_spec`, json: unknown, at = ''): void {
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
