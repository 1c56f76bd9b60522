import type { JsonObject } from '../conversation.ts';
import { isObject, listOf, stringOf } from './json.ts';

/** Keywords `output_config.format.schema` takes as they are (wire.md D6, last paragraph). */
const KEPT = new Set(['title', 'description', 'default', 'const', 'enum', 'type', 'required']);
const MAPS = new Set(['$defs', 'definitions', 'properties']);
const LISTS = new Map([
  ['anyOf', 'anyOf'],
  ['oneOf', 'anyOf'],
  ['allOf', 'allOf'],
]);
const FORMATS = new Set(['time', 'date', 'date-time', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid']);
/** Say nothing about the answer. */
const SILENT = new Set(['$schema', '$id', '$comment', 'examples', 'strict']);

export interface OutputSchema {
  readonly schema: JsonObject;
  /** Paths of the constraints that were moved into a description. */
  readonly moved: readonly string[];
}

/** A schema in the subset Claude enforces. What it cannot enforce is told to the model in the description. A copy. */
export function toOutputSchema(schema: JsonObject): OutputSchema {
  const moved: string[] = [];
  return { schema: convert(schema, '', moved), moved };
}

function convert(schema: JsonObject, path: string, moved: string[]): JsonObject {
  // Siblings of a reference are refused.
  const reference = stringOf(schema['$ref']);
  if (reference !== undefined) return withDefinitions({ $ref: reference }, schema, path, moved);
  const clean: JsonObject = {};
  const told: string[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    const here = `${path}.${keyword}`;
    const list = LISTS.get(keyword);
    if (KEPT.has(keyword)) clean[keyword] = value;
    else if (MAPS.has(keyword) && isObject(value)) clean[keyword] = convertMap(value, here, moved);
    else if (list !== undefined)
      clean[list] = (listOf(value) ?? []).map((item, at) => convertAny(item, `${here}[${at}]`, moved));
    else if (keyword === 'items') clean[keyword] = convertAny(value, here, moved);
    else if (keyword === 'format' && FORMATS.has(String(value))) clean[keyword] = value;
    // Objects are always closed (D6): to say so again is no constraint lost, to say otherwise is.
    else if (!SILENT.has(keyword) && !(keyword === 'additionalProperties' && value === false)) {
      told.push(`${keyword}: ${JSON.stringify(value)}`);
      moved.push(here);
    }
  }
  if (told.length > 0) clean.description = [stringOf(clean.description), told.join(', ')].filter(Boolean).join('\n');
  if (clean.type === 'object' || isObject(clean.properties)) clean.additionalProperties = false;
  return clean;
}

function convertAny(value: unknown, path: string, moved: string[]): unknown {
  return isObject(value) ? convert(value, path, moved) : value;
}

function convertMap(map: JsonObject, path: string, moved: string[]): JsonObject {
  return Object.fromEntries(
    Object.entries(map).map(([key, value]) => [key, convertAny(value, `${path}.${key}`, moved)]),
  );
}

function withDefinitions(clean: JsonObject, schema: JsonObject, path: string, moved: string[]): JsonObject {
  for (const key of ['$defs', 'definitions']) {
    const map = schema[key];
    if (isObject(map)) clean[key] = convertMap(map, `${path}.${key}`, moved);
  }
  return clean;
}
