import { readFileSync } from 'node:fs';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { loadAjv } from '../kernel/on-demand.ts';
import { compiledAhead } from '../kernel/compiled-ahead.ts';
import type { BodyFault } from '../kernel/index.ts';
import { packageFile } from '../kernel/package-root.ts';

const all: (() => ValidateFunction)[] = [];

/** Compiled on first use, since commands use at most one. Reports the first fault only and never changes the body. */
export function bodySchema(name: string): (body: unknown) => BodyFault | undefined {
  let compiled: ValidateFunction | undefined;
  const validator = (): ValidateFunction => (compiled ??= compile(name));
  all.push(validator);
  return (body) => {
    const validate = compiled ?? validator();
    return validate(body) ? undefined : toFault(validate.errors ?? []);
  };
}

/**
 * Compiles all body schemas that are not compiled ahead, when a process starts to serve: that takes 100 ms, for which
 * the first request would wait. A serving process then no longer reads the package's files, which an upgrade may
 * replace.
 */
export function compileBodySchemas(): void {
  for (const validator of all) validator();
}

/** A body schema is not validated against draft-07, which a test does: compiling that draft takes longer than compiling the schema. */
export const BODY_CHECK = { strict: true, allowUnionTypes: true, validateSchema: false, meta: false } as const;

function compile(name: string): ValidateFunction {
  const ahead = compiledAhead.get(`https://gatehouse.dev/schemas/${name}.json`);
  if (ahead) return ahead;
  const schema = JSON.parse(readFileSync(packageFile(`schemas/${name}.json`), 'utf8')) as object;
  const { Ajv } = loadAjv();
  return new Ajv(BODY_CHECK).compile(schema);
}

/** Where a union failed, reports the deepest fault, which the caller can act on. */
function toFault(errors: readonly ErrorObject[]): BodyFault {
  const [error] = errors.toSorted((a, b) => depth(b) - depth(a));
  if (!error) return { message: 'The body is not valid.', param: null, missing: false };
  const at = toParam(error.instancePath);
  if (error.keyword === 'required') {
    const param = join(at, String(error.params['missingProperty']));
    return { message: `\`${param}\` is required.`, param, missing: true };
  }
  const subject = at === '' ? 'The body' : `\`${at}\``;
  return { message: `${subject} ${explain(error)}.`, param: at === '' ? null : at, missing: false };
}

function explain(error: ErrorObject): string {
  if (error.keyword === 'enum') {
    const allowed: unknown = error.params['allowedValues'];
    return Array.isArray(allowed)
      ? `must be one of ${allowed.map((value) => JSON.stringify(value)).join(', ')}`
      : 'has a value that is not allowed';
  }
  if (error.keyword === 'minItems' && error.params['limit'] === 1) return 'is empty: it needs at least one entry';
  if (error.keyword === 'discriminator') return 'has an unknown `type`';
  if (error.keyword === 'type') return `must be ${[error.params['type']].flat().join(' or ').replaceAll(',', ' or ')}`;
  return error.message ?? 'is not valid';
}

const depth = (error: ErrorObject): number => error.instancePath.split('/').length;

const join = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

/** `/messages/0/content` → `messages[0].content`, the notation of OpenAI's `param`. */
const toParam = (pointer: string): string =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : join(path, part)), '');
