import { isError } from '../kernel/outside/thrown.ts';

const MAX_CAUSES = 3;
/** Maximum length of a message and of a stack: a plugin may throw an error with megabytes of either. */
const MAX_TEXT = 16 * 1024;
/** Maximum number of an error's additional fields, and the length of each. */
const MAX_FIELDS = 20;
const MAX_FIELD_TEXT = 1024;

/** The bounded fields of any thrown value, without attached objects such as requests, headers or credentials. */
export function errorFields(thrown: unknown, depth = 0): object {
  if (!isError(thrown)) return { type: typeof thrown };
  const cause = read(thrown, 'cause');
  const isDeeper = cause !== undefined && depth < MAX_CAUSES;
  return {
    type: text(read(thrown, 'name')),
    code: text(read(thrown, 'code')),
    message: text(read(thrown, 'message')),
    stack: text(read(thrown, 'stack')),
    ...(isDeeper && { cause: errorFields(cause, depth + 1) }),
  };
}

/** `errorFields` plus the error's additional plain values (a status, an errno), for a log line. */
export function loggedError(thrown: unknown): object {
  if (!isError(thrown)) return { ...errorFields(thrown), ...(isPlain(thrown) && { message: text(String(thrown)) }) };
  const more = Object.keys(thrown).flatMap((name) => {
    const value = read(thrown, name);
    const reported = typeof value === 'string' ? value.slice(0, MAX_FIELD_TEXT) : value;
    return isPlain(reported) ? [[name.slice(0, MAX_FIELD_TEXT), reported] as const] : [];
  });
  return { ...Object.fromEntries(more.slice(0, MAX_FIELDS)), ...errorFields(thrown) };
}

const isPlain = (value: unknown): value is string | number | boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

/** A getter of an error may throw. */
function read(error: Error, name: string): unknown {
  try {
    return Reflect.get(error, name);
  } catch {
    return undefined;
  }
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value.slice(0, MAX_TEXT) : undefined);
