import type { ErrorObject } from 'ajv';
import { isSchema } from '../read/schema-tree.ts';
import { isObject } from '../../plugin/index.ts';

/**
 * `oneOf` and `anyOf` report every branch that failed and then themselves. A person made one mistake: keep the errors of the branch
 * that was meant, or say in one what all branches ask for.
 */
export function settleUnions(errors: readonly ErrorObject[]): ErrorObject[] {
  const settled = errors
    .filter(isUnion)
    .reduce<ErrorObject[]>(
      (rest, union) => (requiredNames(union) ? settleRequired(union, rest) : settleBranches(union, rest)),
      [...errors],
    );
  return settled.filter((error) => !isOfSurplus(error, settled));
}

const DEPENDENT = /\/dependencies\/([^/]+)\//;

/** What a key asks for besides itself is beside the point where another problem says that the key may have to go. */
function isOfSurplus({ keyword, instancePath, schemaPath }: ErrorObject, errors: readonly ErrorObject[]): boolean {
  const key = DEPENDENT.exec(schemaPath)?.[1];
  if (key === undefined || keyword === 'requireOnlyOne') return false;
  return errors.some(
    (other) =>
      other.keyword === 'requireOnlyOne' &&
      other.instancePath === instancePath &&
      [other.params['names']].flat().includes(key),
  );
}

const isUnion = ({ keyword }: ErrorObject): boolean => keyword === 'oneOf' || keyword === 'anyOf';

/** The keys of `anyOf: [{required: [a]}, {required: [b]}]`; undefined for any other union. */
function requiredNames(union: ErrorObject): string[] | undefined {
  const branches: unknown[] = Array.isArray(union.schema) ? union.schema : [];
  const names = branches.map((branch) =>
    isSchema(branch) && Object.keys(branch).join() === 'required' ? branch['required'] : undefined,
  );
  return names.every((name) => Array.isArray(name)) ? names.flat() : undefined;
}

function settleRequired(union: ErrorObject, errors: readonly ErrorObject[]): ErrorObject[] {
  const names = requiredNames(union) ?? [];
  const several = names.filter((name) => Object.hasOwn(Object(union.data), name)).length > 1;
  const told: ErrorObject = { ...union, keyword: several ? 'requireOnlyOne' : 'requireOneOf', params: { names } };
  const isBranch = (error: ErrorObject) =>
    error.keyword === 'required' &&
    error.instancePath === union.instancePath &&
    error.schemaPath.startsWith(`${union.schemaPath}/`);
  // What is no object lacks no keys: that it is none is the one mistake.
  const takesKeys = isObject(union.data);
  return errors
    .filter((error) => !isBranch(error) && (takesKeys || error !== union))
    .map((error) => (error === union ? told : error));
}

/** Branches of other types than the value's were not meant. When none fits, one error names all the types. */
function settleBranches(union: ErrorObject, errors: readonly ErrorObject[]): ErrorObject[] {
  const before = errors.slice(0, errors.indexOf(union));
  const isType = (error: ErrorObject) => error.keyword === 'type' && error.instancePath === union.instancePath;
  const types = before.filter(isType);
  const isDeeper = (error: ErrorObject) =>
    !isType(error) &&
    (error.instancePath === union.instancePath || error.instancePath.startsWith(`${union.instancePath}/`));
  const branches: unknown[] = Array.isArray(union.schema) ? union.schema : [];
  if (types.length < branches.length && before.some(isDeeper))
    return errors.filter((error) => error !== union && !types.includes(error));
  if (types.length === 0) return [...errors];
  const wanted = types.flatMap((error): unknown[] => [error.params['type']].flat());
  const told: ErrorObject = { ...union, keyword: 'type', params: { type: wanted } };
  return errors.filter((error) => !types.includes(error)).map((error) => (error === union ? told : error));
}
