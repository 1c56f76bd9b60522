import type { JsonObject } from '../../formats/conversation.ts';
import { isObject } from '../../core/kernel/index.ts';

/** The simulator refuses a request, as OpenAI would. */
export class SimulatorRefusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly param: string | null;
  constructor(message: string, param: string | null, status = 400) {
    super(message);
    this.status = status;
    this.param = param;
  }
}

export interface SimulatedTool {
  readonly kind: 'function' | 'custom';
  readonly name: string;
  readonly schema: unknown;
}

/** `any`: a tool must be called. */
type ToolChoice = 'auto' | 'none' | 'any';

/** The fields of a chat request that the simulator reads. Other fields are accepted and ignored, as the README documents. */
export interface ChatRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly n: number;
  readonly maxTokens: number;
  readonly stops: readonly string[];
  /** Text of each message, for counting. */
  readonly texts: readonly string[];
  readonly lastRole: string;
  readonly lastUserText: string;
  /** Texts of the tool results at the end of the conversation. */
  readonly toolResults: readonly string[];
  readonly tools: readonly SimulatedTool[];
  readonly toolChoice: ToolChoice;
  readonly parallel: boolean;
  /** Schema of a JSON answer; undefined for text. */
  readonly jsonSchema: unknown;
}

const objectAt = (json: JsonObject, key: string): JsonObject => {
  const value = json[key];
  return isObject(value) ? value : {};
};

/** Throws SimulatorRefusal. */
export function readChatRequest(body: unknown): ChatRequest {
  if (!isObject(body)) throw new SimulatorRefusal('The body is not a JSON object.', null);
  const { model } = body;
  if (typeof model !== 'string' || model === '') throw new SimulatorRefusal('`model` must be a string.', 'model');
  const messages = readMessages(body['messages']);
  const lastUser = messages.findLast(({ role }) => role === 'user');
  const tools = readTools(body['tools']);
  const choice = readToolChoice(body['tool_choice'], tools);
  return {
    model,
    stream: body['stream'] === true,
    includeUsage: objectAt(body, 'stream_options')['include_usage'] === true,
    n: wholeNumber(body, 'n') ?? 1,
    maxTokens: wholeNumber(body, 'max_completion_tokens') ?? wholeNumber(body, 'max_tokens') ?? Infinity,
    stops: readStops(body['stop']),
    texts: messages.map(({ text }) => text),
    lastRole: messages.at(-1)?.role ?? '',
    lastUserText: lastUser?.text ?? '',
    toolResults: messages.slice(messages.findLastIndex(({ role }) => role !== 'tool') + 1).map(({ text }) => text),
    tools: choice.tools,
    toolChoice: choice.mode,
    parallel: body['parallel_tool_calls'] !== false,
    jsonSchema: readJsonSchema(objectAt(body, 'response_format')),
  };
}

function readMessages(value: unknown): readonly { readonly role: string; readonly text: string }[] {
  if (!Array.isArray(value) || value.length === 0)
    throw new SimulatorRefusal('`messages` must be a list with at least one.', 'messages');
  return value.map((message: unknown, index) => {
    const role = isObject(message) ? message['role'] : undefined;
    if (!isObject(message) || typeof role !== 'string') {
      throw new SimulatorRefusal(`\`messages[${index}].role\` must be a string.`, `messages[${index}].role`);
    }
    return { role, text: textOf(message['content']) };
  });
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: unknown) => (isObject(part) ? partText(part) : '')).join('');
}

function partText(part: JsonObject): string {
  const { type, text } = part;
  return type === 'text' && typeof text === 'string' ? text : `[${typeof type === 'string' ? type : 'part'}]`;
}

function wholeNumber(body: JsonObject, key: string): number | undefined {
  const value = body[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1) {
    throw new SimulatorRefusal(`\`${key}\` must be a whole number of at least 1.`, key);
  }
  if (key === 'n' && value > 128) throw new SimulatorRefusal('`n` must be at most 128.', 'n');
  return value;
}

function readStops(value: unknown): readonly string[] {
  const list: unknown[] = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
  return list.map((stop) => {
    if (typeof stop !== 'string') throw new SimulatorRefusal('`stop` must be a string or a list of strings.', 'stop');
    return stop;
  });
}

function readTools(value: unknown): readonly SimulatedTool[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new SimulatorRefusal('`tools` must be a list.', 'tools');
  return value.map((tool: unknown, index) => {
    const kind = isObject(tool) && tool['type'] === 'custom' ? 'custom' : 'function';
    const details = isObject(tool) ? objectAt(tool, kind) : {};
    const { name, parameters } = details;
    if (typeof name !== 'string' || name === '') {
      const param = `tools[${index}].${kind}.name`;
      throw new SimulatorRefusal(`\`${param}\` must be a string.`, param);
    }
    return { kind, name, schema: parameters };
  });
}

interface ReadChoice {
  readonly mode: ToolChoice;
  /** The tools that may be called. */
  readonly tools: readonly SimulatedTool[];
}

function readToolChoice(value: unknown, tools: readonly SimulatedTool[]): ReadChoice {
  if (value === undefined || value === null || value === 'auto') return { mode: 'auto', tools };
  if (value === 'none') return { mode: 'none', tools };
  if (value === 'required') return { mode: 'any', tools: pick(tools, undefined) };
  if (isObject(value)) {
    const { type } = value;
    if (type === 'function' || type === 'custom') {
      return { mode: 'any', tools: pick(tools, [objectAt(value, type)['name']]) };
    }
    if (type === 'allowed_tools') return readAllowedTools(objectAt(value, 'allowed_tools'), tools);
  }
  throw new SimulatorRefusal('`tool_choice` is not one of the forms of the API.', 'tool_choice');
}

function readAllowedTools(allowed: JsonObject, tools: readonly SimulatedTool[]): ReadChoice {
  const list = Array.isArray(allowed['tools']) ? allowed['tools'] : [];
  const names = list.map((tool: unknown) =>
    isObject(tool) ? objectAt(tool, tool['type'] === 'custom' ? 'custom' : 'function')['name'] : undefined,
  );
  return { mode: allowed['mode'] === 'required' ? 'any' : 'auto', tools: pick(tools, names) };
}

function pick(tools: readonly SimulatedTool[], names: readonly unknown[] | undefined): readonly SimulatedTool[] {
  const left = names ? tools.filter(({ name }) => names.includes(name)) : tools;
  if (left.length === 0)
    throw new SimulatorRefusal('`tool_choice` names a tool that is not in `tools`.', 'tool_choice');
  return left;
}

function readJsonSchema(format: JsonObject): unknown {
  if (format['type'] === 'json_schema') return objectAt(format, 'json_schema')['schema'] ?? { type: 'object' };
  if (format['type'] === 'json_object') return { type: 'object', properties: { reply: {} }, required: ['reply'] };
  return undefined;
}
