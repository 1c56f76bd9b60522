import type {
  Conversation,
  JsonObject,
  Part,
  Reasoning,
  ReasoningEffort,
  ResponseFormat,
  Sampling,
  Turn,
  BuiltinTool,
  Tool,
  ToolChoice,
} from '../conversation.ts';
import { compact, isObject, objectOf, rest, numberOf, stringOf, booleanOf } from '../json/object.ts';
import { MESSAGES_CONVERSATION } from '../fields/parameter-names.ts';
import type { Origins } from '../losses/origins.ts';
import { BodyPlace } from '../losses/place.ts';
import { decodeContent, invalid, cache } from './decode-blocks.ts';
import { decodeToolset, definitionsIn, TOOLSET, type Definitions } from './decode-mcp.ts';
import { thinkingBudget } from '../number-ranges.ts';

/** Body → conversation (docs/protocols/messages-route.md#requests). On Vertex AI the body has no model. */
export function decodeRequest(body: JsonObject, origins?: Origins): Conversation {
  const tools = decodeTools(body.tools, body.mcp_servers);
  return compact({
    model: stringOf(body.model) ?? '',
    turns: [...decodeSystem(body.system, origins), ...decodeMessages(body.messages, origins)],
    maxTokens: numberOf(body.max_tokens),
    sampling: decodeSampling(body),
    tools,
    ...decodeToolChoice(body.tool_choice),
    responseFormat: decodeResponseFormat(body),
    reasoning: decodeReasoning(body),
    user: stringOf(objectOf(body.metadata)?.user_id),
    serviceTier: decodeServiceTier(body.service_tier),
    stream: body.stream === true,
    extras: unplaced(body),
    extrasFormat: 'anthropic-messages' as const,
  });
}

function decodeSystem(system: unknown, origins: Origins | undefined): Turn[] {
  const parts = decodeContent(system, 'system', origins);
  const turns: Turn[] = parts.length > 0 ? [{ role: 'system', parts }] : [];
  for (const turn of turns) origins?.note(turn, 'system');
  return turns;
}

function decodeMessages(messages: unknown, origins: Origins | undefined): Turn[] {
  if (!Array.isArray(messages)) throw invalid('messages', 'must be a list');
  return messages.flatMap((message: unknown, at) => {
    const path = BodyPlace.item('messages', at);
    if (!isObject(message)) throw invalid(path, 'must be an object');
    const turns = decodeMessage(message, path, origins);
    for (const turn of turns) origins?.note(turn, path);
    return turns;
  });
}

function decodeMessage(message: JsonObject, path: BodyPlace, origins: Origins | undefined): Turn[] {
  const parts = decodeContent(message.content, BodyPlace.field(path, 'content'), origins);
  switch (message.role) {
    case 'user':
      return decodeUser(parts);
    case 'assistant':
    case 'system':
      return [{ role: message.role, parts }];
    default:
      throw invalid(BodyPlace.field(path, 'role'), 'must be one of user, assistant, system');
  }
}

/** Results and other content are two turns, results first (docs/protocols/messages-route.md#results-first). */
function decodeUser(parts: readonly Part[]): Turn[] {
  if (!parts.some(({ type }) => type === 'tool_result')) return [{ role: 'user', parts }];
  const results: Part[] = [];
  const others: Part[] = [];
  let behindResult = false;
  for (const part of parts) {
    // Attached fields follow their block (block-fields.ts).
    const attached = part.type === 'opaque' && part.attached === true;
    if (!attached) behindResult = part.type === 'tool_result';
    (behindResult ? results : others).push(part);
  }
  const turns: Turn[] = [];
  if (results.length > 0) turns.push({ role: 'tool', parts: results });
  if (others.length > 0 || results.length === 0) turns.push({ role: 'user', parts: others });
  return turns;
}

function decodeSampling(body: JsonObject): Sampling {
  return compact({
    temperature: numberOf(body.temperature),
    topP: numberOf(body.top_p),
    topK: numberOf(body.top_k),
    stop: decodeStop(body.stop_sequences),
  });
}

function decodeStop(value: unknown): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined;
  const isText = (entry: unknown): entry is string => typeof entry === 'string';
  if (!Array.isArray(value) || !value.every(isText)) throw invalid('stop_sequences', 'must be a list of strings');
  return value;
}

/** `output_format` is the deprecated spelling of `output_config.format` (docs/protocols/anthropic-messages.md#output-config). */
function decodeResponseFormat(body: JsonObject): ResponseFormat | undefined {
  const format = objectOf(objectOf(body.output_config)?.format) ?? objectOf(body.output_format);
  if (!format) return undefined;
  if (format.type !== 'json_schema') throw invalid('output_config.format.type', 'must be json_schema');
  return compact({ type: 'json_schema' as const, schema: objectOf(format.schema) });
}

const EFFORTS: ReadonlySet<string> = new Set(['low', 'medium', 'high', 'xhigh', 'max'] satisfies ReasoningEffort[]);
const isEffort = (value: string): value is ReasoningEffort => EFFORTS.has(value);

function decodeReasoning(body: JsonObject): Reasoning | undefined {
  const effort = stringOf(objectOf(body.output_config)?.effort);
  if (effort !== undefined && !isEffort(effort)) {
    throw invalid('output_config.effort', 'must be one of low, medium, high, xhigh, max');
  }
  const thinking = decodeThinking(objectOf(body.thinking));
  return effort === undefined && !thinking ? undefined : compact({ effort, thinking });
}

const THINKING_TYPES = ['enabled', 'adaptive', 'disabled', 'between_tools'] as const;

function decodeThinking(thinking: JsonObject | undefined): Reasoning['thinking'] {
  if (!thinking) return undefined;
  const type = THINKING_TYPES.find((known) => known === thinking.type);
  if (!type) throw invalid('thinking.type', `must be one of ${THINKING_TYPES.join(', ')}`);
  return compact({
    type,
    budgetTokens: thinkingBudget(numberOf(thinking.budget_tokens)),
    display: stringOf(thinking.display),
  });
}

/** The neutral values are OpenAI's (docs/protocols/requests.md#service-tier). */
function decodeServiceTier(tier: unknown): string | undefined {
  return tier === 'standard_only' ? 'default' : stringOf(tier);
}

/** A null is never sent upstream (docs/protocols/requests.md#nulls). */
function unplaced(body: JsonObject): JsonObject | undefined {
  const config = rest(objectOf(body.output_config) ?? {}, ['effort', 'format']);
  const metadata = rest(objectOf(body.metadata) ?? {}, ['user_id']);
  const extras: JsonObject = {
    ...rest(body, MESSAGES_CONVERSATION),
    ...(config && { output_config: config }),
    ...(metadata && { metadata }),
  };
  return Object.keys(extras).length > 0 ? extras : undefined;
}

/** Server tools with a neutral name, whatever their date (docs/protocols/anthropic-messages.md#server-tools). */
const BUILTIN: readonly (readonly [RegExp, BuiltinTool['kind']])[] = [
  [/^web_search_20\d{6}$/, 'web_search'],
  [/^web_fetch_20\d{6}$/, 'url_context'],
  [/^code_execution_20\d{6}$/, 'code_execution'],
  [/^computer_20\d{6}$/, 'computer_use'],
];

function decodeTools(tools: unknown, servers: unknown): readonly Tool[] | undefined {
  if (tools === undefined || tools === null) return undefined;
  if (!Array.isArray(tools)) throw invalid('tools', 'must be a list');
  let definitions: Definitions | undefined;
  return tools.map((tool: unknown, at) => {
    if (!isObject(tool)) throw invalid(`tools[${at}]`, 'must be an object');
    if (tool.type === TOOLSET) return decodeToolset(tool, (definitions ??= definitionsIn(servers))) ?? opaqueTool(tool);
    return decodeTool(tool, at);
  });
}

const opaqueTool = (options: JsonObject): Tool => ({
  type: 'builtin',
  kind: 'opaque',
  options,
  format: 'anthropic-messages',
});

function decodeTool(tool: JsonObject, at: number): Tool {
  const type = stringOf(tool.type);
  if (type !== undefined && type !== 'custom') {
    const kind = BUILTIN.find(([pattern]) => pattern.test(type))?.[1];
    return kind ? { type: 'builtin', kind, options: tool } : opaqueTool(tool);
  }
  const name = stringOf(tool.name);
  if (name === undefined) throw invalid(`tools[${at}].name`, 'must be a string');
  // A tool without a type is a `custom` tool.
  return compact({
    type: 'function' as const,
    name,
    description: stringOf(tool.description),
    parameters: objectOf(tool.input_schema),
    strict: booleanOf(tool.strict),
    ...cache(tool),
    extras: rest(tool, ['type', 'name', 'description', 'input_schema', 'strict', 'cache_control']),
  });
}

function decodeToolChoice(choice: unknown): { toolChoice?: ToolChoice; parallelToolCalls?: boolean } {
  if (choice === undefined || choice === null) return {};
  if (!isObject(choice)) throw invalid('tool_choice', 'must be an object');
  const disabled = booleanOf(choice.disable_parallel_tool_use);
  return { toolChoice: decodeChoice(choice), ...(disabled !== undefined && { parallelToolCalls: !disabled }) };
}

function decodeChoice(choice: JsonObject): ToolChoice {
  switch (choice.type) {
    case 'auto':
    case 'none':
      return { mode: choice.type };
    case 'any':
      return { mode: 'required' };
    case 'tool': {
      const name = stringOf(choice.name);
      if (name === undefined) throw invalid('tool_choice.name', 'must be a string');
      return { mode: 'required', names: [name] };
    }
    default:
      throw invalid('tool_choice.type', 'must be one of auto, any, tool, none');
  }
}
