import type { JsonObject } from '../conversation.ts';
import type { Usage } from '../events.ts';
import { isObject, objectOf } from '../json/object.ts';

/** The state of a response, in the API's words. */
export type Status = 'in_progress' | 'completed' | 'incomplete' | 'failed';

export interface ResponseParts {
  readonly id: string;
  readonly created: number;
  readonly status: Status;
  readonly model: string;
  readonly output: readonly JsonObject[];
  /** Fields of the request that the response repeats. */
  readonly echoed: JsonObject;
  readonly usage?: JsonObject | undefined;
  readonly incomplete?: string | undefined;
  readonly error?: JsonObject | undefined;
  readonly stored?: boolean | undefined;
}

/**
 * A response has every key of the API: clients and the schemas of Open Responses read all of them
 * (docs/protocols/openai-responses.md#response).
 */
export function responseObject(parts: ResponseParts): JsonObject {
  const { echoed, incomplete, error, usage, created, status } = parts;
  const response: JsonObject = {
    id: parts.id,
    object: 'response',
    created_at: created,
    completed_at: status === 'completed' ? created : null,
    status,
    background: false,
    error: error ?? null,
    incomplete_details: incomplete === undefined ? null : { reason: incomplete },
    model: parts.model,
    output: parts.output,
    usage: usage ?? null,
    store: parts.stored ?? false,
  };
  for (const [name, value] of DEFAULTS) response[name] = echoed[name] ?? value;
  response.reasoning = reasoningOf(echoed.reasoning);
  response.text = textOf(echoed.text);
  response.tools = Array.isArray(echoed.tools) ? echoed.tools.map(toolOf) : [];
  return response;
}

/** Fields that repeat the request, with the values that stand for absence. */
const DEFAULTS: readonly (readonly [string, unknown])[] = [
  ['instructions', null],
  ['max_output_tokens', null],
  ['max_tool_calls', null],
  ['parallel_tool_calls', true],
  ['previous_response_id', null],
  ['prompt_cache_key', null],
  ['safety_identifier', null],
  ['service_tier', 'default'],
  ['temperature', 1],
  ['tool_choice', 'auto'],
  ['top_logprobs', 0],
  ['top_p', 1],
  ['presence_penalty', 0],
  ['frequency_penalty', 0],
  ['truncation', 'disabled'],
  ['user', null],
  ['metadata', {}],
];

function reasoningOf(reasoning: unknown): JsonObject {
  return { effort: null, summary: null, ...objectOf(reasoning) };
}

function textOf(text: unknown): JsonObject {
  return { format: { type: 'text' }, ...objectOf(text) };
}

/** The API repeats function tools with all of their fields. */
function toolOf(tool: unknown): unknown {
  if (!isObject(tool) || tool.type !== 'function') return tool;
  return { description: null, parameters: null, ...tool, strict: tool.strict ?? false };
}

export function encodeUsage({ input, output, total, cacheRead, cacheWrite, reasoning }: Usage): JsonObject {
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: cacheRead ?? 0,
      ...(cacheWrite !== undefined && { cache_write_tokens: cacheWrite }),
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning ?? 0 },
    total_tokens: total,
  };
}
