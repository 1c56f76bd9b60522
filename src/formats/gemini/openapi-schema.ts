import type { JsonObject } from '../conversation.ts';
import { leftover, pick } from './wire.ts';
import { isObject } from '../json/object.ts';

/**
 * Converts Gemini's OpenAPI-style Schema (`parameters`, `responseSchema`) to JSON Schema
 * (docs/protocols/requests.md#schema-openapi): lowercase types, `nullable` in the type, and numbers for the counts that
 * protobuf writes as strings. Only keywords of this dialect are changed.
 */
export function fromOpenApi(schema: JsonObject): JsonObject {
  const out: JsonObject = { ...leftover(schema, SPECIAL) };
  for (const name of COUNTS) {
    const value = out[name];
    if (typeof value === 'string' && /^-?\d+$/.test(value)) out[name] = Number(value);
  }
  const type = typeOf(pick(schema, 'type'), schema['nullable'] === true);
  const properties = pick(schema, 'properties');
  const items = pick(schema, 'items');
  const anyOf = pick(schema, 'anyOf');
  const additional = pick(schema, 'additionalProperties');
  return {
    ...(type !== undefined && { type }),
    ...out,
    ...(isObject(properties) && { properties: mapValues(properties) }),
    ...(items !== undefined && { items: convert(items) }),
    ...(Array.isArray(anyOf) && { anyOf: withNull(anyOf.map(convert), schema['nullable'] === true && !type) }),
    ...(additional !== undefined && { additionalProperties: convert(additional) }),
  };
}

const SPECIAL = new Set(['type', 'nullable', 'properties', 'items', 'anyOf', 'additionalProperties']);
const COUNTS = ['minItems', 'maxItems', 'minProperties', 'maxProperties', 'minLength', 'maxLength'];

/** Protobuf JSON accepts the number of an enum value in place of its name, and one recorded client sends numbers. */
const TYPE_NUMBERS = [undefined, 'string', 'number', 'integer', 'boolean', 'array', 'object', 'null'];

function typeOf(type: unknown, nullable: boolean): unknown {
  const name = typeof type === 'number' ? TYPE_NUMBERS[type] : typeof type === 'string' ? type.toLowerCase() : type;
  if (name === undefined || name === 'type_unspecified') return undefined;
  return nullable && name !== 'null' ? [name, 'null'].flat() : name;
}

function convert(schema: unknown): unknown {
  return isObject(schema) ? fromOpenApi(schema) : schema;
}

function mapValues(schemas: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, convert(schema)]));
}

function withNull(branches: unknown[], nullable: boolean): unknown[] {
  return nullable ? [...branches, { type: 'null' }] : branches;
}
