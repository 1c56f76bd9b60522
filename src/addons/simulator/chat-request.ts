import type { JsonObject } from '../../formats/conversation.ts';
import { isObject } from '../../core/kernel/index.ts';

/** The simulator refuses a request with a 400, as OpenAI would. */
export class SimulatorRefusal extends Error {
  readonly param: string | null;
  constructor(message: string, param: string | null) {
    super(message);
    this.param = param;
  }
}

export interface SimulatedTool {
  readonly kind: 'function' | 'custom';
  readonly name: string;
  readonly schema: unknown;
}

/** The fields of a chat request that the simulator reads. Other fields are accepted and ignored. */
export interface ChatRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly n: number;
  readonly maxTokens: number;
  readonly stops: readonly string[];
  readonly texts: readonly string[];
  readonly lastRole: unknown;
  readonly lastUserText: string;
  /** Texts of the tool results at the end of the conversation. */
  readonly toolResults: readonly string[];
  readonly tools: readonly SimulatedTool[];
  readonly forced: boolean;
  readonly parallel: boolean;
  /** Schema of a JSON answer; undefined for text. */
  readonly jsonSchema: unknown;
}

const MAX_CHOICES = 128;

const objectAt = (json: JsonObject, key: string): JsonObject => {
  const value = json[key];
  return isObject(value) ? value : {};
};

const objectsIn = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** A request as an object with a model. Throws SimulatorRefusal. */
export function readModel(body: unknown): JsonObject & { readonly model: string } {
  if (!isObject(body)) throw new SimulatorRefusal('The body is not a JSON object.', null);
  const { model } = body;
  if (typeof model !== 'string' || model === '') throw new SimulatorRefusal('`model` must be a string.', 'model');
  return { ...body, model };
}

/** Throws SimulatorRefusal. */
export function readChatRequest(json: unknown): ChatRequest {
  const body = readModel(json);
  const messages = objectsIn(body['messages']).map(({ role, content }) => ({ role, text: textOf(content) }));
  if (messages.length === 0) throw new SimulatorRefusal('`messages` must be a list with at least one.', 'messages');
  const n = wholeNumber(body, 'n') ?? 1;
  if (n > MAX_CHOICES) throw new SimulatorRefusal(`\`n\` must be at most ${MAX_CHOICES}.`, 'n');
  return {
    model: body.model,
    stream: body['stream'] === true,
    includeUsage: objectAt(body, 'stream_options')['include_usage'] === true,
    n,
    maxTokens: wholeNumber(body, 'max_completion_tokens') ?? wholeNumber(body, 'max_tokens') ?? Infinity,
    stops: [body['stop']].flat().filter((stop) => typeof stop === 'string'),
    texts: messages.map(({ text }) => text),
    lastRole: messages.at(-1)?.role,
    lastUserText: messages.findLast(({ role }) => role === 'user')?.text ?? '',
    toolResults: messages.slice(messages.findLastIndex(({ role }) => role !== 'tool') + 1).map(({ text }) => text),
    ...readTools(body),
    parallel: body['parallel_tool_calls'] !== false,
    jsonSchema: readJsonSchema(objectAt(body, 'response_format')),
  };
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return objectsIn(content)
    .map(({ type, text }) => (type === 'text' && typeof text === 'string' ? text : `[${String(type)}]`))
    .join('');
}

function wholeNumber(body: JsonObject, key: string): number | undefined {
  const value = body[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1) return value;
  throw new SimulatorRefusal(`\`${key}\` must be a whole number of at least 1.`, key);
}

/** A `tool_choice` that names a tool leaves only that one. */
function readTools({ tools, tool_choice: choice }: JsonObject): Pick<ChatRequest, 'tools' | 'forced'> {
  const named = isObject(choice) ? objectAt(choice, String(choice['type']))['name'] : undefined;
  const offered = choice === 'none' ? [] : objectsIn(tools).map(toolOf);
  const left = offered.filter(({ name }) => named === undefined || name === named);
  const forced = choice === 'required' || named !== undefined;
  if (forced && left.length === 0)
    throw new SimulatorRefusal('`tool_choice` names a tool that is not in `tools`.', 'tool_choice');
  return { tools: left, forced };
}

function toolOf(tool: JsonObject): SimulatedTool {
  const kind = tool['type'] === 'custom' ? 'custom' : 'function';
  const { name, parameters } = objectAt(tool, kind);
  return { kind, name: String(name), schema: parameters };
}

function readJsonSchema(format: JsonObject): unknown {
  if (format['type'] === 'json_schema') return objectAt(format, 'json_schema')['schema'] ?? { type: 'object' };
  if (format['type'] === 'json_object') return { type: 'object', properties: { reply: {} }, required: ['reply'] };
  return undefined;
}
