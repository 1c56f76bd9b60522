import type { JsonObject } from '../conversation.ts';

/** A JSON object: neither null nor a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function objectOf(value: unknown): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

/**
 * Adds fields to an object in place. A stream adds some with each of its events, and copying all of them each time
 * would cost the square of its length. A field named `__proto__` is treated like any other.
 */
export function absorb(into: JsonObject, fields: JsonObject): void {
  for (const key of Object.keys(fields)) setField(into, key, fields[key]);
}

export function setField(into: JsonObject, key: string, value: unknown): void {
  // An assignment to `__proto__` would change the prototype.
  if (key === '__proto__')
    Object.defineProperty(into, key, { value, enumerable: true, configurable: true, writable: true });
  else into[key] = value;
}

/**
 * A copy of the object without the named keys and without nulls, which mean the same as absence; the fields of `first`
 * come first. `undefined` when nothing is left. One loop and one object: lists of entries and copies cost several times
 * as much, and a block may have thousands of fields.
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

/** `list.push(...items)` passes each item as an argument, and some hundred thousand arguments overflow the stack. */
export function append<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item);
}
