import type {
  Conversation,
  JsonObject,
  Part,
  Reasoning,
  ReasoningEffort,
  ResponseFormat,
  Sampling,
  Turn,
} from '../conversation.ts';
import type { Origins } from '../losses/origins.ts';
import { BodyPlace } from '../losses/place.ts';
import { decodeContent, invalid } from './decode-blocks.ts';
import { decodeToolChoice, decodeTools } from './decode-tools.ts';
import { isObject, objectOf, rest } from '../json/object.ts';
import { numberOf, stringOf } from '../json/read.ts';

/**
 * Fields with a neutral place. Every other field is kept under its name: the whole body is passed on, not an allow-list
 * (docs/protocols/anthropic-messages.md#request-fields).
 */
const PLACED = [
  'model',
  'messages',
  'system',
  'max_tokens',
  'stop_sequences',
  'stream',
  'temperature',
  'top_p',
  'top_k',
  'thinking',
  'output_config',
  'output_format',
  'tools',
  'tool_choice',
  'metadata',
  'service_tier',
];

/**
 * Messages API body → conversation (docs/protocols/anthropic-messages.md#request-fields, docs/protocols/messages-route.md#requests). On
 * Vertex AI the body has no model.
 */
export function decodeRequest(body: JsonObject, origins?: Origins): Conversation {
  const tools = decodeTools(body.tools);
  const maxTokens = numberOf(body.max_tokens);
  const user = stringOf(objectOf(body.metadata)?.user_id);
  return {
    model: stringOf(body.model) ?? '',
    turns: [...decodeSystem(body.system, origins), ...decodeMessages(body.messages, origins)],
    ...(maxTokens !== undefined && { maxTokens }),
    sampling: decodeSampling(body),
    ...(tools && { tools }),
    ...decodeToolChoice(body.tool_choice),
    ...decodeResponseFormat(body),
    ...decodeReasoning(body),
    ...(user !== undefined && { user }),
    ...decodeServiceTier(body.service_tier),
    stream: body.stream === true,
    ...unplaced(body),
    extrasFormat: 'anthropic-messages',
  };
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

/**
 * Tool results and the user's own content become two turns: results first, as the API requires
 * (docs/protocols/messages-route.md#results-first).
 */
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
  const temperature = numberOf(body.temperature);
  const topP = numberOf(body.top_p);
  const topK = numberOf(body.top_k);
  const stop = decodeStop(body.stop_sequences);
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(topK !== undefined && { topK }),
    ...(stop && { stop }),
  };
}

function decodeStop(value: unknown): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw invalid('stop_sequences', 'must be a list of strings');
  const stop = value.filter((entry): entry is string => typeof entry === 'string');
  if (stop.length !== value.length) throw invalid('stop_sequences', 'must be a list of strings');
  return stop;
}

/** `output_format` is the deprecated spelling of `output_config.format` (docs/protocols/anthropic-messages.md#output-config). */
function decodeResponseFormat(body: JsonObject): { responseFormat?: ResponseFormat } {
  const format = objectOf(objectOf(body.output_config)?.format) ?? objectOf(body.output_format);
  if (!format) return {};
  if (format.type !== 'json_schema') throw invalid('output_config.format.type', 'must be json_schema');
  const schema = objectOf(format.schema);
  return { responseFormat: { type: 'json_schema', ...(schema && { schema }) } };
}

const EFFORTS: ReadonlySet<string> = new Set(['low', 'medium', 'high', 'xhigh', 'max'] satisfies ReasoningEffort[]);
const isEffort = (value: string): value is ReasoningEffort => EFFORTS.has(value);

function decodeReasoning(body: JsonObject): { reasoning?: Reasoning } {
  const effort = stringOf(objectOf(body.output_config)?.effort);
  if (effort !== undefined && !isEffort(effort)) {
    throw invalid('output_config.effort', 'must be one of low, medium, high, xhigh, max');
  }
  const thinking = decodeThinking(objectOf(body.thinking));
  if (effort === undefined && !thinking) return {};
  return { reasoning: { ...(effort !== undefined && { effort }), ...(thinking && { thinking }) } };
}

function decodeThinking(thinking: JsonObject | undefined): Reasoning['thinking'] {
  if (!thinking) return undefined;
  const budgetTokens = numberOf(thinking.budget_tokens);
  const display = stringOf(thinking.display);
  const { type } = thinking;
  if (type !== 'enabled' && type !== 'adaptive' && type !== 'disabled' && type !== 'between_tools') {
    throw invalid('thinking.type', 'must be one of enabled, adaptive, disabled, between_tools');
  }
  return {
    type,
    ...(budgetTokens !== undefined && { budgetTokens }),
    ...(display !== undefined && { display }),
  };
}

/** The neutral values are OpenAI's (docs/protocols/requests.md#service-tier). */
function decodeServiceTier(tier: unknown): { serviceTier?: string } {
  if (typeof tier !== 'string') return {};
  return { serviceTier: tier === 'standard_only' ? 'default' : tier };
}

/** A null is never sent upstream (docs/protocols/requests.md#nulls). */
function unplaced(body: JsonObject): { extras?: JsonObject } {
  const config = rest(objectOf(body.output_config) ?? {}, ['effort', 'format']);
  const metadata = rest(objectOf(body.metadata) ?? {}, ['user_id']);
  const extras: JsonObject = {
    ...rest(body, PLACED),
    ...(config && { output_config: config }),
    ...(metadata && { metadata }),
  };
  return Object.keys(extras).length > 0 ? { extras } : {};
}
