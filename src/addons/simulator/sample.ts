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

/**
 * A value that is valid for a tool's JSON Schema: required properties only, and the first of several choices. Ignores `pattern`,
 * `not`, `if` and `multipleOf`.
 */
export function sampleFor(schema: unknown): unknown {
  return sample(schema, isObject(schema) ? schema : {}, 0);
}

function sample(given: unknown, root: JsonObject, depth: number): unknown {
  if (!isObject(given) || depth > MAX_DEPTH) return given === undefined || given === true ? 'sample' : null;
  const schema = flatten(given, root, depth);
  if (schema['const'] !== undefined) return schema['const'];
  for (const key of ['enum', 'examples']) {
    const list = schema[key];
    if (Array.isArray(list) && list.length > 0) return list[0];
  }
  if (schema['default'] !== undefined) return schema['default'];
  const choices = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(choices) && choices.length > 0) {
    const { anyOf: _anyOf, oneOf: _oneOf, ...rest } = schema;
    return sample(merge(rest, choices[0]), root, depth + 1);
  }
  return sampleOfType(schema, root, depth);
}

/** The schema with references resolved and `allOf` merged. */
function flatten(schema: JsonObject, root: JsonObject, depth: number): JsonObject {
  if (depth > MAX_DEPTH) return {};
  const { $ref: reference, allOf, ...own } = schema;
  let flat: JsonObject = own;
  if (typeof reference === 'string') flat = merge(flat, resolve(reference, root));
  if (Array.isArray(allOf))
    for (const part of allOf) flat = merge(flat, isObject(part) ? flatten(part, root, depth + 1) : {});
  return flat['$ref'] === undefined && flat['allOf'] === undefined ? flat : flatten(flat, root, depth + 1);
}

function merge(base: JsonObject, more: unknown): JsonObject {
  if (!isObject(more)) return base;
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
      return sampleNumber(schema, 1);
    case 'number':
      return sampleNumber(schema, 0.5);
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
  const entries = required
    .filter((key) => typeof key === 'string')
    // `hasOwn`, because `constructor` is also an inherited member of the object.
    .map(
      (key) => [key, sample(Object.hasOwn(properties, key) ? properties[key] : undefined, root, depth + 1)] as const,
    );
  return Object.fromEntries(entries);
}

const MAX_ITEMS = 100;

function sampleArray(schema: JsonObject, root: JsonObject, depth: number): unknown[] {
  const { minItems, items, prefixItems } = schema;
  const tuple = Array.isArray(prefixItems) ? prefixItems : [];
  const length = Math.min(MAX_ITEMS, Math.max(typeof minItems === 'number' ? minItems : 1, tuple.length));
  if (schema['maxItems'] === 0) return [];
  return Array.from({ length }, (_, index) => sample(tuple[index] ?? items, root, depth + 1));
}

function sampleNumber(schema: JsonObject, step: number): number {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  if (typeof minimum === 'number') return step === 1 ? Math.ceil(minimum) : minimum;
  if (typeof exclusiveMinimum === 'number') return middle(exclusiveMinimum, exclusiveMaximum ?? maximum, step);
  if (typeof maximum === 'number') return step === 1 ? Math.floor(Math.min(1, maximum)) : Math.min(1, maximum);
  if (typeof exclusiveMaximum === 'number')
    return Math.min(1, step === 1 ? Math.ceil(exclusiveMaximum) - 1 : exclusiveMaximum - 1);
  return 1;
}

/** A value above `low`: the next integer, or halfway to an upper bound. */
function middle(low: number, high: unknown, step: number): number {
  if (step === 1) return Math.floor(low) + 1;
  return typeof high === 'number' ? (low + high) / 2 : low + step;
}

const MAX_PADDING = 10_000;

function sampleString(schema: JsonObject): string {
  const { format, minLength, maxLength } = schema;
  const text = (typeof format === 'string' ? FORMATS[format] : undefined) ?? 'sample';
  const padded = typeof minLength === 'number' ? text.padEnd(Math.min(minLength, MAX_PADDING), 'x') : text;
  return typeof maxLength === 'number' ? padded.slice(0, maxLength) : padded;
}
