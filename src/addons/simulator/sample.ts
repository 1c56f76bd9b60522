import type { JsonObject } from '../../formats/conversation.ts';
import { isObject } from '../../core/kernel/index.ts';

/** Limit for recursive schemas: deeper values are null. */
const MAX_DEPTH = 12;

const FORMATS: Readonly<Record<string, string>> = {
  date: '2026-01-02',
  time: '03:04:05Z',
  'date-time': '2026-01-02T03:04:05Z',
  email: 'sample@example.com',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
  ipv4: '192.0.2.1',
};

/** A valid value with the required properties. Ignores `pattern`, `not`, `if` and `multipleOf`. */
export const sampleFor = (schema: unknown): unknown => sample(schema, isObject(schema) ? schema : {}, 0);

function sample(given: unknown, root: JsonObject, depth: number): unknown {
  if (!isObject(given) || depth > MAX_DEPTH) return given === undefined || given === true ? 'sample' : null;
  const { $ref: reference, allOf, anyOf, oneOf, ...own } = given;
  const parts = [
    typeof reference === 'string' ? resolve(reference, root) : undefined,
    ...(Array.isArray(allOf) ? allOf : []),
    Array.isArray(anyOf ?? oneOf) ? [anyOf ?? oneOf].flat()[0] : undefined,
  ].filter(isObject);
  if (parts.length > 0) return sample(parts.reduce(merge, own), root, depth + 1);
  if (own['const'] !== undefined) return own['const'];
  for (const list of [own['enum'], own['examples']]) if (Array.isArray(list) && list.length > 0) return list[0];
  return own['default'] === undefined ? sampleOfType(own, root, depth) : own['default'];
}

/** The base wins where both have a key. */
function merge(base: JsonObject, more: JsonObject): JsonObject {
  const merged: Record<string, unknown> = { ...more, ...base };
  if (isObject(base['properties']) && isObject(more['properties'])) {
    merged['properties'] = { ...more['properties'], ...base['properties'] };
  }
  if (Array.isArray(base['required']) && Array.isArray(more['required'])) {
    merged['required'] = [...new Set([...base['required'], ...more['required']])];
  }
  return merged;
}

/** Resolves `#/$defs/name`; an unresolvable reference allows any value. */
function resolve(reference: string, root: JsonObject): JsonObject {
  let at: unknown = reference.startsWith('#') ? root : undefined;
  for (const step of reference.split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return isObject(at) ? at : {};
}

function sampleOfType(schema: JsonObject, root: JsonObject, depth: number): unknown {
  switch (typeOf(schema)) {
    case 'object':
      return sampleObject(schema, root, depth);
    case 'array':
      return sampleArray(schema, root, depth);
    case 'integer':
      return sampleNumber(schema, true);
    case 'number':
      return sampleNumber(schema, false);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return sampleString(schema);
  }
}

function typeOf(schema: JsonObject): unknown {
  const { type } = schema;
  if (Array.isArray(type)) return type.find((name) => name !== 'null') ?? 'null';
  if (type !== undefined) return type;
  if (schema['properties'] !== undefined) return 'object';
  return schema['items'] === undefined ? 'string' : 'array';
}

function sampleObject(schema: JsonObject, root: JsonObject, depth: number): JsonObject {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  // `hasOwn`, because `constructor` is also an inherited member of the object.
  const schemaOf = (key: string): unknown => (Object.hasOwn(properties, key) ? properties[key] : undefined);
  return Object.fromEntries(required.map((key) => [key, sample(schemaOf(String(key)), root, depth + 1)]));
}

const MAX_ITEMS = 100;

function sampleArray(schema: JsonObject, root: JsonObject, depth: number): unknown[] {
  const { minItems, items, prefixItems } = schema;
  const tuple = Array.isArray(prefixItems) ? prefixItems : [];
  const length = Math.min(MAX_ITEMS, Math.max(typeof minItems === 'number' ? minItems : 1, tuple.length));
  if (schema['maxItems'] === 0) return [];
  return Array.from({ length }, (_, index) => sample(tuple[index] ?? items, root, depth + 1));
}

/** The first value within all bounds; 1 where none of them is. */
function sampleNumber(schema: JsonObject, whole: boolean): number {
  const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = schema;
  const low = Math.max(Number(minimum), Number(exclusiveMinimum));
  const high = Math.min(Number(maximum), Number(exclusiveMaximum));
  const candidates = whole
    ? [1, Math.ceil(low), Math.floor(low) + 1, Math.floor(high), Math.ceil(high) - 1]
    : [1, low, high, (low + high) / 2, low + 0.5, high - 0.5];
  const fits = (value: number): boolean =>
    value >= Number(minimum) &&
    value <= Number(maximum) &&
    value > Number(exclusiveMinimum) &&
    value < Number(exclusiveMaximum);
  return candidates.find(fits) ?? 1;
}

const MAX_PADDING = 10_000;

function sampleString(schema: JsonObject): string {
  const { format, minLength, maxLength } = schema;
  const text = (typeof format === 'string' ? FORMATS[format] : undefined) ?? 'sample';
  const padded = typeof minLength === 'number' ? text.padEnd(Math.min(minLength, MAX_PADDING), 'x') : text;
  return typeof maxLength === 'number' ? padded.slice(0, maxLength) : padded;
}
