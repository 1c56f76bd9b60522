import type { JsonObject } from '../conversation.ts';

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
