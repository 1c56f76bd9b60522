import type { JsonObject } from '../conversation.ts';
import type { Usage } from '../events.ts';
import { jsonBytes } from '../json/literal.ts';
import { isObject, objectOf } from '../json/object.ts';
import { withoutSecrets } from './mcp-items.ts';

/** The state of a response, in the API's words. */
export type Status = 'in_progress' | 'completed' | 'incomplete' | 'failed';

interface ResponseName {
  readonly id: string;
  readonly created: number;
  /** Fields of the request that the response repeats. */
  readonly echoed: JsonObject;
  readonly stored?: boolean | undefined;
}

type UsageFields = Readonly<Record<string, number | Readonly<Record<string, number>>>>;

interface State {
  readonly status: Status;
  readonly model: string;
  /** Only names and numbers: its JSON has one byte per character. */
  readonly usage?: UsageFields | undefined;
  readonly incomplete?: string | undefined;
  readonly error?: JsonObject | undefined;
}

/**
 * Writes one response as JSON, with one character per byte (json/literal.ts). A stream has the response three times: what repeats
 * the request is written once. A response has every key of the API: clients and the schemas of Open Responses read all of them
 * (docs/protocols/openai-responses.md#response).
 */
export class ResponseText {
  readonly #created: number;
  readonly #head: string;
  readonly #tail: string;

  constructor({ id, created, echoed, stored = false }: ResponseName) {
    this.#created = created;
    this.#head = `{"id":${jsonBytes(id)},"object":"response","created_at":${created},"completed_at":`;
    this.#tail = `,"store":${stored}${repeated(echoed)}}`;
  }

  /** @param output the items as JSON, between commas */
  of({ status, model, usage, incomplete, error }: State, output: string): string {
    const completed = status === 'completed' ? String(this.#created) : 'null';
    const details = incomplete === undefined ? 'null' : `{"reason":"${incomplete}"}`;
    const failure = error ? jsonBytes(error) : 'null';
    const state = `${completed},"status":"${status}","background":false,"error":${failure}`;
    const counts = usage ? JSON.stringify(usage) : 'null';
    const answer = `"model":${jsonBytes(model)},"output":[${output}],"usage":${counts}`;
    return `${this.#head}${state},"incomplete_details":${details},${answer}${this.#tail}`;
  }
}

/** The same as an object, with `output` as JSON. */
export function responseObject({
  output = '',
  ...parts
}: ResponseName & State & { readonly output?: string }): JsonObject {
  return JSON.parse(Buffer.from(new ResponseText(parts).of(parts, output), 'latin1').toString('utf8')) as JsonObject;
}

/** Fields that repeat the request, as members of the response, with the values that stand for absence. */
const DEFAULTS: readonly (readonly [name: string, byDefault: string])[] = Object.entries({
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  safety_identifier: null,
  service_tier: 'default',
  temperature: 1,
  tool_choice: 'auto',
  top_logprobs: 0,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  truncation: 'disabled',
  user: null,
  metadata: {},
}).map(([name, value]) => [name, `,"${name}":${JSON.stringify(value)}`]);

function repeated(echoed: JsonObject): string {
  let text = '';
  for (const [name, byDefault] of DEFAULTS) {
    const given = echoed[name] ?? undefined;
    text += given === undefined ? byDefault : `,"${name}":${typeof given === 'number' ? given : jsonBytes(given)}`;
  }
  const tools = Array.isArray(echoed.tools) ? jsonBytes(echoed.tools.map(toolOf)) : '[]';
  return `${text},"reasoning":${reasoningOf(echoed.reasoning)},"text":${textOf(echoed.text)},"tools":${tools}`;
}

const reasoningOf = (reasoning: unknown): string =>
  isObject(reasoning) ? jsonBytes({ effort: null, summary: null, ...reasoning }) : '{"effort":null,"summary":null}';

const textOf = (text: unknown): string =>
  isObject(text) ? jsonBytes({ format: { type: 'text' }, ...objectOf(text) }) : '{"format":{"type":"text"}}';

/** The API repeats function tools with all of their fields, and servers of tools without their secrets. */
function toolOf(tool: unknown): unknown {
  if (!isObject(tool)) return tool;
  if (tool.type === 'mcp') return withoutSecrets(tool);
  if (tool.type === 'namespace' && Array.isArray(tool.tools))
    return { ...tool, tools: tool.tools.map(withoutSecretsIn) };
  if (tool.type !== 'function') return tool;
  return { description: null, parameters: null, ...tool, strict: tool.strict ?? false };
}

const withoutSecretsIn = (tool: unknown): unknown =>
  isObject(tool) && tool.type === 'mcp' ? withoutSecrets(tool) : tool;

export function encodeUsage({ input, output, total, cacheRead, cacheWrite, reasoning }: Usage): UsageFields {
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
