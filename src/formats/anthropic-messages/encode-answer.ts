import type { JsonObject, ResponseFormat } from '../conversation.ts';
import { isObject, listOf, stringOf } from '../json/object.ts';
import { hasStructuredOutputs } from './models.ts';
import type { WireBlock, RequestContext } from './request-context.ts';

/** How the form of the answer is requested (docs/protocols/requests.md#response-format): at most one of the three. */
export interface AnswerPlan {
  /** `output_config.format`. */
  readonly format?: JsonObject;
  readonly jsonTool?: WireBlock & { readonly name: string };
  readonly systemLine?: string;
}

type JsonSchemaFormat = Extract<ResponseFormat, { type: 'json_schema' }>;

const JSON_LINE = 'Answer with a single JSON object and nothing else.';

export function planAnswer(declared: readonly WireBlock[], mayForce: boolean, context: RequestContext): AnswerPlan {
  const format = context.conversation.responseFormat;
  if (!format || format.type === 'text') return {};
  if (format.type === 'json_object' || !format.schema) {
    context.losses.downgraded('response_format', 'Claude has no JSON mode: the system prompt requests JSON');
    return { systemLine: JSON_LINE };
  }
  if (context.facts.structuredOutput && hasStructuredOutputs(context.target)) {
    return { format: { type: 'json_schema', schema: describe(outputSchema(format.schema, context), format) } };
  }
  return planJsonTool({ ...format, schema: format.schema }, declared, mayForce, context);
}

/** The format's description goes into the schema, which the model reads; its name is a label without effect. */
function describe(schema: JsonObject, { description }: JsonSchemaFormat): JsonObject {
  const room = description !== undefined && schema.description === undefined && schema.$ref === undefined;
  return room ? { ...schema, description } : schema;
}

function planJsonTool(
  format: JsonSchemaFormat & { readonly schema: JsonObject },
  declared: readonly WireBlock[],
  mayForce: boolean,
  { conversation, losses }: RequestContext,
): AnswerPlan {
  const { toolChoice } = conversation;
  // The caller forces this one call now; the answer in the schema belongs to a later request, which brings the result.
  if (mayForce && toolChoice?.mode === 'required' && toolChoice.names?.length === 1) return {};
  const name = freeName(declared);
  const description = format.description ?? 'Gives the answer. Call it once, with the whole answer.';
  const { schema } = format;
  const input_schema = schema.type === 'object' ? schema : { ...schema, type: 'object' };
  if (schema.type !== undefined && schema.type !== 'object') {
    losses.clamped('response_format.json_schema.schema.type', 'Claude answers in a schema with objects only');
  }
  return {
    jsonTool: { name, description, input_schema },
    ...(!mayForce && { systemLine: `Give your final answer by calling the \`${name}\` tool.` }),
  };
}

/** Avoids the name of a tool that the caller declares. */
function freeName(declared: readonly WireBlock[]): string {
  const taken = new Set(declared.map((tool) => tool.name));
  let name = 'json';
  for (let n = 2; taken.has(name); n++) name = `json_${n}`;
  return name;
}

/** A schema that was written for this API is sent unchanged. */
function outputSchema(schema: JsonObject, { native, losses }: RequestContext): JsonObject {
  if (native) return schema;
  const { schema: clean, moved } = toOutputSchema(schema);
  for (const path of moved) {
    losses.downgraded(`response_format.json_schema.schema${path}`, 'Claude reads this at most as a description');
  }
  return clean;
}

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

interface OutputSchema {
  readonly schema: JsonObject;
  /** Paths of the keywords that are no longer enforced: moved into a description, or left out beside a reference. */
  readonly moved: readonly string[];
}

/** A copy of the schema in the subset that Claude enforces. The description lists the other constraints. */
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

/** A reference stands alone (docs/protocols/requests.md#json-schema-for-claude), but for definitions. */
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
