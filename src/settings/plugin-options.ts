import { Ajv, type ValidateFunction } from 'ajv';
import type { Report } from '../plugin/index.ts';
import type { Path } from './pointer.ts';
import { schemaProblems } from './schema-problems.ts';
import { isSchema, packageSchemas } from './schemas.ts';

const ajv = new Ajv({ allErrors: true, verbose: true, strict: true, allowUnionTypes: true, strictRequired: false, discriminator: true });
ajv.addVocabulary(['x-secret', 'tsType']);

/** Plugins live as long as the process, so their schemas are compiled once. */
const validators = new WeakMap<object, ValidateFunction>();

/** Checks a plugin's options against its own schema; problems are told like those of every other setting. True when there are none. */
export function checkOptions(schema: object, options: unknown, path: Path, report: Report): boolean {
  let validate = validators.get(schema);
  if (!validate) validators.set(schema, (validate = ajv.compile(schema)));
  if (validate(options)) return true;
  const values = { json: options, origins: new Map(), diagnostics: [] };
  const problems = schemaProblems(validate.errors ?? [], values, { schemas: packageSchemas(), root: isSchema(schema) ? [schema] : [] });
  for (const problem of problems) report({ ...problem, path: [...path, ...problem.path] });
  return false;
}
