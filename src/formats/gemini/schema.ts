import type { JsonObject } from '../conversation.ts';
import { AllOfMerger, MergeRoom } from './schema-merge.ts';
import { isObject } from '../json/object.ts';
import { leftover, pick } from './wire.ts';

/**
 * JSON Schema in the form of `parametersJsonSchema` and `responseJsonSchema`
 * (docs/protocols/requests.md#json-schema-for-gemini). Always a copy: all attempts share the caller's schema, which
 * must not change (one known gateway edits it in place, and deletes properties that happen to be named
 * `additionalProperties`). Only schema positions are walked, never plain data.
 */
interface CarriedSchema {
  /** Undefined for an empty object: Google wants such parameters omitted. */
  readonly schema: JsonObject | undefined;
  /** Keywords that were moved to a description. */
  readonly described: readonly string[];
  /** Keywords that were dropped. */
  readonly dropped: readonly string[];
}

export function toCarrier(schema: JsonObject, room: MergeRoom = new MergeRoom()): CarriedSchema {
  const carrier = new Carrier(schema, room);
  const converted = carrier.node(schema) ?? {};
  return {
    schema: isEmptyObject(converted) ? undefined : converted,
    described: [...carrier.described].sort(),
    dropped: [...carrier.dropped].sort(),
  };
}

/** Keywords whose value is copied as it is. */
const PLAIN = new Set(
  '$id $anchor title description minItems maxItems minimum maximum required propertyOrdering'.split(' '),
);
const DROPPED = new Set(['discriminator', 'examples', 'example', 'strict', '$comment', '$vocabulary']);
/** Names the version of JSON Schema: Google has only one. */
const SILENT = new Set(['$schema']);
/** Annotations constrain nothing in JSON Schema itself, so their move to the description is no loss. */
const ANNOTATIONS = new Set(['default', 'readOnly', 'writeOnly', 'deprecated']);
/** Keywords that are handled together with related ones. */
const COMPOSED = new Set(
  '$ref $defs definitions type format enum const items prefixItems properties additionalProperties anyOf oneOf allOf'.split(
    ' ',
  ),
);
const STRING_FORMATS = new Set(['date-time', 'date', 'time']);

class Carrier {
  readonly described = new Set<string>();
  readonly dropped = new Set<string>();
  readonly #merger: AllOfMerger;
  /** References whose targets were merged into the enclosing schemas. */
  readonly #open = new Set<string>();
  #level = 0;

  constructor(root: JsonObject, room: MergeRoom) {
    this.#merger = new AllOfMerger(root, this.dropped, room);
  }

  /** Returns undefined for `false`: no value fits such a schema, so it is omitted. */
  node(schema: unknown): JsonObject | undefined {
    if (schema === false) {
      this.dropped.add('false schemas');
      return undefined;
    }
    if (!isObject(schema)) return {};
    const { schema: merged, refs } = this.#merger.merge(schema, this.#open, this.#level);
    // Only references that are not open are merged, so the end of this schema closes exactly those.
    for (const ref of refs) this.#open.add(ref);
    this.#level += 1;
    const out = typeof merged['$ref'] === 'string' ? this.#reference(merged, merged['$ref']) : this.#schema(merged);
    this.#level -= 1;
    for (const ref of refs) this.#open.delete(ref);
    return out;
  }

  #schema(merged: JsonObject): JsonObject {
    const out: JsonObject = {};
    const notes: string[] = [];
    for (const [keyword, value] of Object.entries(merged)) {
      if (PLAIN.has(keyword)) out[keyword] = value;
      else if (DROPPED.has(keyword)) this.dropped.add(keyword);
      else if (!COMPOSED.has(keyword) && !SILENT.has(keyword)) this.#describe(notes, keyword, value);
    }
    this.#types(merged, out, notes);
    this.#children(merged, out, notes);
    if (notes.length > 0) out['description'] = withNotes(out['description'], notes);
    return out;
  }

  /** Beside `$ref` only other `$…` keywords are allowed. */
  #reference(schema: JsonObject, ref: string): JsonObject {
    const out: JsonObject = { $ref: ref.replace(/^#\/definitions\//, '#/$defs/') };
    for (const keyword of Object.keys(schema)) {
      if (keyword === '$ref' || keyword === '$defs' || keyword === 'definitions' || SILENT.has(keyword)) continue;
      if (keyword === '$id' || keyword === '$anchor') out[keyword] = schema[keyword];
      else this.dropped.add(`${keyword} beside $ref`);
    }
    this.#definitions(schema, out);
    return out;
  }

  #types(schema: JsonObject, out: JsonObject, notes: string[]): void {
    const values = 'const' in schema ? [schema['const']] : schema['enum'];
    let type = schema['type'];
    if (Array.isArray(values)) type = this.#enumeration(values, type, { out, notes });
    if (type === undefined && isObject(schema['properties'])) type = 'object';
    if (type !== undefined) out['type'] = type;
    const format = schema['format'];
    if (typeof format !== 'string') return;
    const textual = type === undefined || type === 'string' || (Array.isArray(type) && type.includes('string'));
    if (textual && !STRING_FORMATS.has(format)) this.#describe(notes, 'format', format);
    else out['format'] = format;
  }

  /** Enumerations hold strings and numbers. `null` belongs in the type; any other value goes into the description. */
  #enumeration(values: readonly unknown[], type: unknown, into: { out: JsonObject; notes: string[] }): unknown {
    const usable = values.filter((value) => typeof value === 'string' || typeof value === 'number');
    const hasOthers = usable.length < values.filter((value) => value !== null).length;
    if (hasOthers) this.#describe(into.notes, 'enum', values);
    else if (usable.length > 0) into.out['enum'] = usable;
    const types = type === undefined ? [...new Set(values.map(typeOf))] : [...new Set([type].flat())];
    if (values.includes(null) && !types.includes('null')) types.push('null');
    return types.length === 1 ? types[0] : types;
  }

  #children(schema: JsonObject, out: JsonObject, notes: string[]): void {
    this.#definitions(schema, out);
    if (isObject(schema['properties'])) out['properties'] = Object.fromEntries(this.#members(schema['properties']));
    if (out['required'] !== undefined) this.#required(out['required'], out);
    if (Array.isArray(schema['prefixItems'])) out['prefixItems'] = this.#list(schema['prefixItems']);
    // Draft 4 to 2019-09 write prefixItems as a list under `items`.
    if (Array.isArray(schema['items'])) out['prefixItems'] = this.#list(schema['items']);
    else if (schema['items'] !== undefined) {
      const items = this.node(schema['items']);
      if (items) out['items'] = items;
    }
    const additional = schema['additionalProperties'];
    if (typeof additional === 'boolean') out['additionalProperties'] = additional;
    else if (additional !== undefined) out['additionalProperties'] = this.node(additional);
    const { anyOf, oneOf } = schema;
    if (Array.isArray(anyOf)) {
      out['anyOf'] = this.#list(anyOf);
      if (oneOf !== undefined) this.#describe(notes, 'oneOf', oneOf);
    } else if (Array.isArray(oneOf)) out['anyOf'] = this.#list(oneOf);
  }

  /** Google refuses a required property that is not defined. */
  #required(names: unknown, out: JsonObject): void {
    const { properties } = out;
    const kept = [names].flat().filter((name) => isObject(properties) && Object.hasOwn(properties, String(name)));
    if (kept.length < [names].flat().length) this.dropped.add('required');
    if (kept.length > 0) out['required'] = kept;
    else delete out['required'];
  }

  #definitions(schema: JsonObject, out: JsonObject): void {
    const found = [schema['definitions'], schema['$defs']].filter(isObject);
    if (found.length > 0) out['$defs'] = Object.fromEntries(found.flatMap((schemas) => this.#members(schemas)));
  }

  /** For `Object.fromEntries`, which defines own properties: a property named `__proto__` stays one. */
  #members(schemas: JsonObject): (readonly [string, JsonObject])[] {
    return Object.entries(schemas).flatMap(([name, schema]) => {
      const node = this.node(schema);
      return node ? [[name, node] as const] : [];
    });
  }

  #list(schemas: readonly unknown[]): JsonObject[] {
    return schemas.map((schema) => this.node(schema)).filter((node) => node !== undefined);
  }

  #describe(notes: string[], keyword: string, value: unknown): void {
    if (!ANNOTATIONS.has(keyword)) this.described.add(keyword);
    notes.push(`${keyword}: ${JSON.stringify(value)}`);
  }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function withNotes(description: unknown, notes: readonly string[]): string {
  const constraints = `(${notes.join(', ')})`;
  return typeof description === 'string' && description !== '' ? `${description} ${constraints}` : constraints;
}

function isEmptyObject(schema: JsonObject): boolean {
  const { type, properties, additionalProperties, ...rest } = schema;
  if (type !== undefined && type !== 'object') return false;
  if (isObject(properties) && Object.keys(properties).length > 0) return false;
  if (additionalProperties !== undefined && additionalProperties !== false) return false;
  return !['anyOf', '$ref', 'enum', 'items', 'prefixItems', 'description'].some((keyword) => keyword in rest);
}

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
  const isNullable = schema['nullable'] === true;
  const type = fromOpenApiType(pick(schema, 'type'), isNullable);
  const properties = pick(schema, 'properties');
  const items = pick(schema, 'items');
  const anyOf = pick(schema, 'anyOf');
  const additional = pick(schema, 'additionalProperties');
  return {
    ...(type !== undefined && { type }),
    ...out,
    ...(isObject(properties) && { properties: convertAll(properties) }),
    ...(items !== undefined && { items: convert(items) }),
    ...(Array.isArray(anyOf) && {
      anyOf: isNullable && !type ? [...anyOf.map(convert), { type: 'null' }] : anyOf.map(convert),
    }),
    ...(additional !== undefined && { additionalProperties: convert(additional) }),
  };
}

const SPECIAL = new Set(['type', 'nullable', 'properties', 'items', 'anyOf', 'additionalProperties']);
const COUNTS = ['minItems', 'maxItems', 'minProperties', 'maxProperties', 'minLength', 'maxLength'];

/** Protobuf JSON accepts the number of an enum value in place of its name, and one recorded client sends numbers. */
const TYPE_NUMBERS = [undefined, 'string', 'number', 'integer', 'boolean', 'array', 'object', 'null'];

function fromOpenApiType(type: unknown, nullable: boolean): unknown {
  const name = typeof type === 'number' ? TYPE_NUMBERS[type] : typeof type === 'string' ? type.toLowerCase() : type;
  if (name === undefined || name === 'type_unspecified') return undefined;
  return nullable && name !== 'null' ? [name, 'null'].flat() : name;
}

function convert(schema: unknown): unknown {
  return isObject(schema) ? fromOpenApi(schema) : schema;
}

function convertAll(schemas: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, convert(schema)]));
}
