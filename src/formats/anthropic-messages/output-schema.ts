import type { JsonObject } from '../conversation.ts';
import { isObject } from '../json/object.ts';
import { listOf, stringOf } from '../json/read.ts';

/** Keywords that `output_config.format.schema` takes unchanged (docs/protocols/requests.md#json-schema-for-claude). */
const KEPT = new Set(['title', 'description', 'default', 'const', 'enum', 'type', 'required']);
const MAPS = new Set(['$defs', 'definitions', 'properties']);
const LISTS = new Map([
  ['anyOf', 'anyOf'],
  ['oneOf', 'anyOf'],
  ['allOf', 'allOf'],
]);
const FORMATS = new Set(['time', 'date', 'date-time', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid']);
/** Keywords that do not constrain the answer. */
const SILENT = new Set(['$schema', '$id', '$comment', 'examples', 'strict']);

export interface OutputSchema {
  readonly schema: JsonObject;
  /** Paths of the keywords that are no longer enforced: moved into a description, or left out beside a reference. */
  readonly moved: readonly string[];
}

/**
 * A copy of the schema in the subset that Claude enforces. The description lists the constraints that Claude cannot
 * enforce.
 */
export function toOutputSchema(schema: JsonObject): OutputSchema {
  const moved: string[] = [];
  return { schema: convert(schema, '', moved), moved };
}

function convert(schema: JsonObject, path: string, moved: string[]): JsonObject {
  // Claude refuses siblings of a reference.
  const reference = stringOf(schema['$ref']);
  if (reference !== undefined) return referTo(reference, schema, path, moved);
  const clean: JsonObject = {};
  const reported: string[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    const here = `${path}.${keyword}`;
    const list = LISTS.get(keyword);
    if (KEPT.has(keyword)) clean[keyword] = value;
    else if (MAPS.has(keyword) && isObject(value)) clean[keyword] = convertMap(value, here, moved);
    // `oneOf` and `anyOf` become the same keyword: the first is kept, the other goes into the description.
    else if (list !== undefined && clean[list] === undefined)
      clean[list] = (listOf(value) ?? []).map((item, at) => convertAny(item, `${here}[${at}]`, moved));
    else if (keyword === 'items') clean[keyword] = convertAny(value, here, moved);
    else if (keyword === 'format' && typeof value === 'string' && FORMATS.has(value)) clean[keyword] = value;
    // Objects are always closed (docs/protocols/requests.md#json-schema-for-claude): stating it loses no constraint,
    // stating the opposite does.
    else if (!SILENT.has(keyword) && !(keyword === 'additionalProperties' && value === false)) {
      reported.push(`${keyword}: ${JSON.stringify(value)}`);
      moved.push(here);
    }
  }
  if (reported.length > 0)
    clean.description = [stringOf(clean.description), reported.join(', ')].filter(Boolean).join('\n');
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

/**
 * A reference stands alone (docs/protocols/requests.md#json-schema-for-claude): definitions may be beside it, everything else is left out
 * and reported.
 */
function referTo($ref: string, schema: JsonObject, path: string, lost: string[]): JsonObject {
  const clean: JsonObject = { $ref };
  for (const [keyword, value] of Object.entries(schema)) {
    const here = `${path}.${keyword}`;
    if ((keyword === '$defs' || keyword === 'definitions') && isObject(value))
      clean[keyword] = convertMap(value, here, lost);
    else if (keyword !== '$ref' && !SILENT.has(keyword)) lost.push(here);
  }
  return clean;
}
