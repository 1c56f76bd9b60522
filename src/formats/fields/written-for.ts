import type { OtherApis, ParameterApi, WrittenFor } from './field-table.ts';
import { isObject } from '../json/object.ts';
import { toSnake } from '../json/field-names.ts';
import {
  CHAT_PARAMETERS,
  GEMINI_PARAMETERS,
  MESSAGES_PARAMETERS,
  MODEL_LISTS,
  RESPONSES_PARAMETERS,
} from './parameter-names.ts';

/** The first of these that has a name is the API that the name belongs to. */
const PARAMETER_APIS: readonly ParameterApi[] = ['chat', 'messages', 'responses', 'gemini'];

/** Fields that an API does not take: Anthropic has versions and betas in headers, Responses no penalties. */
const NOT_TAKEN: Readonly<Record<ParameterApi, readonly string[]>> = {
  chat: [],
  messages: ['anthropic_beta', 'anthropic_version', 'models', 'context_window_fallbacks', 'content_policy_fallbacks'],
  responses: ['frequency_penalty', 'presence_penalty', ...MODEL_LISTS],
  gemini: [],
};

const topLevel = (api: ParameterApi, paths: readonly string[]): ReadonlySet<string> =>
  new Set(paths.map((path) => toSnake(path.split('.', 1)[0]!)).filter((name) => !NOT_TAKEN[api].includes(name)));

const NAMES: Readonly<Record<ParameterApi, ReadonlySet<string>>> = {
  // Servers with OpenAI's API also read Anthropic's cache markers (docs/protocols/openai-chat.md#cache-markers).
  chat: topLevel('chat', [...CHAT_PARAMETERS, 'stream_options', 'cache_control']),
  messages: topLevel('messages', MESSAGES_PARAMETERS),
  responses: topLevel('responses', RESPONSES_PARAMETERS),
  gemini: topLevel('gemini', GEMINI_PARAMETERS),
};

/** The APIs that a value fits, for names that several APIs have with values of another form. Undefined: any form. */
type FormOf = (value: unknown) => readonly ParameterApi[] | undefined;

const has = (value: unknown, ...keys: readonly string[]): boolean =>
  isObject(value) && keys.some((key) => Object.hasOwn(value, key));

function formOfTools(value: unknown): readonly ParameterApi[] | undefined {
  const [tool] = Array.isArray(value) ? (value as readonly unknown[]) : [];
  if (!isObject(tool)) return undefined;
  if (has(tool, 'function', 'custom')) return ['chat'];
  if (has(tool, 'input_schema')) return ['messages'];
  if (tool.type === 'function' || tool.type === 'custom') return ['responses'];
  return tool.type === undefined && tool.name === undefined ? ['gemini'] : undefined;
}

function formOfChoice(value: unknown): readonly ParameterApi[] | undefined {
  if (typeof value === 'string') return ['chat', 'responses'];
  if (!isObject(value)) return undefined;
  if (has(value, 'function', 'custom', 'allowed_tools')) return ['chat'];
  return ['auto', 'any', 'tool', 'none'].includes(String(value.type)) ? ['messages'] : ['responses'];
}

/** Claude demands a budget of at least 1024; 0 turns thinking off in the chat API here. */
const formOfThinking: FormOf = (value) =>
  isObject(value) && Number(value.budget_tokens ?? 1024) <= 0 ? ['chat'] : undefined;

/** OpenRouter has an object of the same name, which its servers take as it is. */
const formOfReasoning: FormOf = (value) =>
  isObject(value) && !Object.keys(value).every((key) => ['effort', 'summary', 'generate_summary'].includes(key))
    ? PARAMETER_APIS
    : undefined;

function formOfTier(value: unknown): readonly ParameterApi[] | undefined {
  if (value === 'standard') return ['gemini'];
  if (value === 'standard_only') return ['messages'];
  return value === 'auto' ? ['chat', 'messages', 'responses'] : ['chat', 'responses'];
}

const FORMS: ReadonlyMap<string, FormOf> = new Map<string, FormOf>([
  ['tools', formOfTools],
  ['tool_choice', formOfChoice],
  ['thinking', formOfThinking],
  ['reasoning', formOfReasoning],
  ['service_tier', formOfTier],
  ['context_management', (value) => (Array.isArray(value) ? ['responses'] : ['messages'])],
]);

/** Objects whose members belong to different APIs: Claude has `user_id` alone. */
const SPLIT: Readonly<Partial<Record<ParameterApi, Readonly<Record<string, readonly string[]>>>>> = {
  messages: { metadata: ['user_id'] },
};

/** Fields of the door's own API that Google's two hosts take in different places, or not at all. */
const BY_HOST: Readonly<Partial<Record<ParameterApi, readonly string[]>>> = { gemini: ['labels', 'service_tier'] };

const OWN: WrittenFor = { api: undefined, whole: false };

/** The API that a parameter of a config is written for, in a request of the API `door`. A value of undefined fits every form. */
function writtenFor(door: ParameterApi, [key = '', inner]: readonly string[], value: unknown): WrittenFor {
  const name = toSnake(key);
  if (inner !== undefined && SPLIT[door]?.[name] !== undefined)
    return SPLIT[door][name].includes(inner) ? OWN : { api: 'chat', whole: false };
  // Gemini alone has names in camelCase, and takes both.
  const fits = value === undefined ? undefined : FORMS.get(key)?.(value);
  const isOf = (api: ParameterApi): boolean =>
    NAMES[api].has(api === 'gemini' ? name : key) && (fits === undefined || fits.includes(api));
  if (isOf(door) && BY_HOST[door]?.includes(name)) return { api: door, whole: false };
  if (isOf(door) || (fits?.includes(door) ?? false)) return OWN;
  const api = PARAMETER_APIS.find(isOf);
  return api ? { api, whole: NAMES[door].has(name) } : OWN;
}

/** The fields with the same meaning in the APIs, beside those of one form (shared-parameters.ts). */
const ALIKE: readonly Readonly<Partial<Record<ParameterApi, readonly string[]>>>[] = [
  {
    chat: ['reasoning_effort', 'thinking', 'reasoning'],
    messages: ['thinking', 'output_config.effort'],
    responses: ['reasoning.effort'],
    gemini: ['generationConfig.thinkingConfig'],
  },
  {
    chat: ['tool_choice', 'function_call'],
    messages: ['tool_choice'],
    responses: ['tool_choice'],
    gemini: ['toolConfig'],
  },
  {
    chat: ['parallel_tool_calls'],
    messages: ['tool_choice.disable_parallel_tool_use'],
    responses: ['parallel_tool_calls'],
  },
  {
    chat: ['user', 'safety_identifier'],
    messages: ['metadata.user_id'],
    responses: ['user', 'safety_identifier'],
  },
  { chat: ['service_tier'], messages: ['service_tier'], responses: ['service_tier'], gemini: ['serviceTier'] },
  { chat: ['verbosity'], responses: ['text.verbosity'] },
  { chat: ['logprobs'], gemini: ['generationConfig.responseLogprobs'] },
  { chat: ['top_logprobs'], responses: ['top_logprobs'], gemini: ['generationConfig.logprobs'] },
  { chat: ['modalities'], gemini: ['generationConfig.responseModalities'] },
  { chat: ['audio'], gemini: ['generationConfig.speechConfig'] },
  { chat: ['image_config'], gemini: ['generationConfig.imageConfig'] },
  { chat: ['safety_settings'], gemini: ['safetySettings'] },
];

/** The fields of a request of the API `door` that a parameter of another API replaces, or gives way to as a default. */
function alikeAt(door: ParameterApi, path: readonly string[], of: ParameterApi): readonly (readonly string[])[] {
  const begins = (name: string): boolean =>
    name.split('.').every((key, at) => path[at] !== undefined && toSnake(path[at]) === toSnake(key));
  const row = ALIKE.find((names) => names[of]?.some(begins));
  return row?.[door]?.map((name) => name.split('.')) ?? [];
}

/** The first API that has a parameter of this name and form; undefined: none. */
export const apiOf = (name: string, value: unknown): ParameterApi | undefined => {
  const fits = FORMS.get(name)?.(value);
  return PARAMETER_APIS.find(
    (api) => NAMES[api].has(api === 'gemini' ? toSnake(name) : name) && (fits === undefined || fits.includes(api)),
  );
};

/** `thinking` with a budget alone is enabled. A budget of 0 turns it off. */
export const completed = (key: string, value: unknown): unknown =>
  key === 'thinking' && isObject(value) && value.type === undefined && typeof value.budget_tokens === 'number'
    ? { type: 'enabled', ...value }
    : value;

export const otherApis = (door: ParameterApi): OtherApis => ({
  completed,
  writtenFor: (path, value) => writtenFor(door, path, value),
  isSplit: (key) => SPLIT[door]?.[toSnake(key)] !== undefined,
  alike: (path, of) => alikeAt(door, path, of),
});
