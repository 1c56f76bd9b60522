import type { JsonObject } from '../conversation.ts';

/** A JSON object: neither null nor a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function objectOf(value: unknown): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

/**
 * Adds fields to an object in place: a stream adds some with each of its events, and copying all of them each time would cost the square
 * of its length. A field named `__proto__` is one like any other.
 */
export function absorb(into: JsonObject, fields: JsonObject): void {
  for (const key of Object.keys(fields)) setField(into, key, fields[key]);
}

export function setField(into: JsonObject, key: string, value: unknown): void {
  // Assigned, this key would change the prototype instead.
  if (key === '__proto__')
    Object.defineProperty(into, key, { value, enumerable: true, configurable: true, writable: true });
  else into[key] = value;
}

/**
 * The object without the named keys and without nulls, which say nothing, behind the fields of `first`; `undefined` when nothing is left.
 * One loop and one object: lists of entries and copies cost several times as much, and a block may have thousands of fields.
 */
export function rest(
  object: JsonObject,
  known: readonly string[],
  first: Readonly<JsonObject> = {},
): JsonObject | undefined {
  let left: JsonObject | undefined;
  for (const key of Object.keys(object)) {
    const value = object[key];
    if (value !== undefined && value !== null && !known.includes(key)) setField((left ??= { ...first }), key, value);
  }
  return left;
}
