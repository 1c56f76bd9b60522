import type {
  Conversation,
  JsonObject,
  Reasoning,
  ReasoningEffort,
  Sampling,
  ResponseFormat,
} from '../conversation.ts';
import { CHAT_SETTINGS } from '../fields/parameter-names.ts';
import { rest, compact } from '../json/object.ts';
import type { Origins } from '../losses/origins.ts';
import { decodeMessages } from './decode-messages.ts';
import { decodeToolChoice, decodeTools } from './decode-tools.ts';
import {
  invalidValue,
  readArray,
  readBoolean,
  readNumber,
  readObject,
  readString,
  readStrings,
  required,
} from './read.ts';
import { isBareSchema, unreadFields } from './unread-fields.ts';
import { thinkingBudget } from '../number-ranges.ts';

/** `stream_options` concerns only client and gateway. */
const PLACED = ['model', 'messages', 'stream', 'stream_options', ...CHAT_SETTINGS];

/** Decodes the body of POST /v1/chat/completions (docs/protocols/openai-chat.md#request-fields). */
export function decodeRequest(body: JsonObject, origins?: Origins): Conversation {
  // Nulls are omitted: upstreams refuse a null that they do not know (docs/protocols/requests.md#nulls).
  const extras = rest(body, PLACED);
  const unread = unreadFields(body);
  return compact({
    model: required(readString(body.model, 'model'), 'model'),
    turns: decodeMessages(required(readArray(body.messages, 'messages'), 'messages'), origins),
    // `max_tokens` is the deprecated alias. The newer name wins in a body with both
    // (docs/protocols/openai-chat.md#max-tokens).
    maxTokens:
      readNumber(body.max_completion_tokens, 'max_completion_tokens') ?? readNumber(body.max_tokens, 'max_tokens'),
    sampling: decodeSampling(body),
    tools: decodeTools(readArray(body.tools, 'tools'), readArray(body.functions, 'functions'), origins),
    toolChoice: decodeToolChoice(body.tool_choice, body.function_call),
    parallelToolCalls: readBoolean(body.parallel_tool_calls, 'parallel_tool_calls'),
    responseFormat: decodeResponseFormat(readObject(body.response_format, 'response_format')),
    reasoning: decodeReasoning(body),
    modalities: readStrings(body.modalities, 'modalities'),
    audio: readObject(body.audio, 'audio'),
    webSearch: readObject(body.web_search_options, 'web_search_options'),
    user: readString(body.user, 'user'),
    metadata: readObject(body.metadata, 'metadata'),
    labels: readObject(body.labels, 'labels'),
    safetySettings: readArray(body.safety_settings, 'safety_settings'),
    imageConfig: readObject(body.image_config, 'image_config'),
    serviceTier: readString(body.service_tier, 'service_tier'),
    verbosity: readString(body.verbosity, 'verbosity'),
    stream: readBoolean(body.stream, 'stream') ?? false,
    extras,
    extrasFormat: extras && ('openai-chat' as const),
    unread: unread.length > 0 ? unread : undefined,
  });
}

function decodeSampling(body: JsonObject): Sampling {
  return compact({
    temperature: readNumber(body.temperature, 'temperature'),
    topP: readNumber(body.top_p, 'top_p'),
    topK: readNumber(body.top_k, 'top_k'),
    frequencyPenalty: readNumber(body.frequency_penalty, 'frequency_penalty'),
    presencePenalty: readNumber(body.presence_penalty, 'presence_penalty'),
    seed: readNumber(body.seed, 'seed'),
    stop: typeof body.stop === 'string' ? [body.stop] : readStrings(body.stop, 'stop'),
    n: readNumber(body.n, 'n'),
    logprobs: readBoolean(body.logprobs, 'logprobs'),
    topLogprobs: readNumber(body.top_logprobs, 'top_logprobs'),
  });
}

const EFFORTS: readonly ReasoningEffort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
export const THINKING_TYPES = ['enabled', 'adaptive', 'disabled', 'between_tools'] as const;

function decodeReasoning(body: JsonObject): Reasoning | undefined {
  const word = readString(body.reasoning_effort, 'reasoning_effort');
  const effort = word === undefined ? undefined : oneOf(EFFORTS, word, 'reasoning_effort');
  const thinking = readObject(body.thinking, 'thinking');
  if (effort === undefined && !thinking) return undefined;
  return compact({ effort, thinking: thinking && decodeThinking(thinking) });
}

function decodeThinking(thinking: JsonObject): NonNullable<Reasoning['thinking']> {
  const type = required(readString(thinking.type, 'thinking.type'), 'thinking.type');
  return compact({
    type: oneOf(THINKING_TYPES, type, 'thinking.type'),
    budgetTokens: thinkingBudget(readNumber(thinking.budget_tokens, 'thinking.budget_tokens')),
    display: readString(thinking.display, 'thinking.display'),
  });
}

function oneOf<T extends string>(words: readonly T[], word: string, path: string): T {
  const known = words.find((candidate) => candidate === word);
  if (known === undefined) throw invalidValue(path, `\`${path}\` must be one of ${words.join(', ')}.`);
  return known;
}

function decodeResponseFormat(format: JsonObject | undefined): ResponseFormat | undefined {
  if (!format) return undefined;
  const path = 'response_format.json_schema';
  switch (format.type) {
    case 'text':
    case 'json_object':
      return { type: format.type };
    case 'json_schema': {
      const wrapper = required(readObject(format.json_schema, path), path);
      if (isBareSchema(wrapper)) return { type: 'json_schema', schema: wrapper };
      return compact({
        type: 'json_schema' as const,
        name: readString(wrapper.name, `${path}.name`),
        description: readString(wrapper.description, `${path}.description`),
        schema: readObject(wrapper.schema, `${path}.schema`),
        strict: readBoolean(wrapper.strict, `${path}.strict`),
      });
    }
    default:
      throw invalidValue(
        'response_format.type',
        '`response_format.type` must be one of text, json_object, json_schema.',
      );
  }
}
