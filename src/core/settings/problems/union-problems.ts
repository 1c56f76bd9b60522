import type { ErrorObject } from 'ajv';
import { isObject } from '../../kernel/index.ts';

/** One error for a union, in place of those of each failed branch and its own: that of the branch that is meant. */
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

/** A `dependencies` error of a key is superfluous where `requireOnlyOne` says that the key may have to be removed. */
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
    isObject(branch) && Object.keys(branch).join() === 'required' ? branch['required'] : undefined,
  );
  return names.every((name) => Array.isArray(name)) ? names.flat() : undefined;
}

function settleRequired(union: ErrorObject, errors: readonly ErrorObject[]): ErrorObject[] {
  const names = requiredNames(union) ?? [];
  const several = names.filter((name) => Object.hasOwn(Object(union.data), name)).length > 1;
  const reported: ErrorObject = { ...union, keyword: several ? 'requireOnlyOne' : 'requireOneOf', params: { names } };
  const isBranch = (error: ErrorObject) =>
    error.keyword === 'required' &&
    error.instancePath === union.instancePath &&
    error.schemaPath.startsWith(`${union.schemaPath}/`);
  // For a value that is not an object only the type error counts, not its missing keys.
  const takesKeys = isObject(union.data);
  return errors
    .filter((error) => !isBranch(error) && (takesKeys || error !== union))
    .map((error) => (error === union ? reported : error));
}

/** Drops the branches for other types than the value's. When no branch fits, one error names all the types. */
function settleBranches(union: ErrorObject, errors: readonly ErrorObject[]): ErrorObject[] {
  const before = errors.slice(0, errors.indexOf(union));
  const isType = (error: ErrorObject) => error.keyword === 'type' && error.instancePath === union.instancePath;
  const types = before.filter(isType);
  const isDeeper = (error: ErrorObject) =>
    !isType(error) &&
    (error.instancePath === union.instancePath || error.instancePath.startsWith(`${union.instancePath}/`));
  // `false` besides an object: a branch that is one value.
  const values = before.filter(
    ({ keyword, instancePath }) => keyword === 'const' && instancePath === union.instancePath,
  );
  const others = [...types, ...values];
  const branches: unknown[] = Array.isArray(union.schema) ? union.schema : [];
  if (others.length < branches.length && before.some((error) => isDeeper(error) && !values.includes(error)))
    return errors.filter((error) => error !== union && !others.includes(error));
  if (others.length === 0) return [...errors];
  const wanted = [
    ...values.map(({ params }) => String(params['allowedValue'])),
    ...types.flatMap((error): unknown[] => [error.params['type']].flat()),
  ];
  const reported: ErrorObject = { ...union, keyword: 'type', params: { type: wanted } };
  return errors.filter((error) => !others.includes(error)).map((error) => (error === union ? reported : error));
}
