import type { JsonObject, ResponseFormat } from '../conversation.ts';
import { toOutputSchema } from './output-schema.ts';
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
  if (context.facts.structuredOutput && context.target.host === 'direct') {
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
