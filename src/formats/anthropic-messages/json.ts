import { setField } from '../streams/absorb.ts';
import type { JsonObject } from '../conversation.ts';

/** Readers for JSON of unknown shape: what is not of the wanted type is `undefined`, so hostile bodies cannot crash a codec. */

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function objectOf(value: unknown): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

export function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

export function booleanOf(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

export function listOf(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

/** Parses JSON text; `undefined` where it is not JSON (JSON itself has no undefined). */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
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
