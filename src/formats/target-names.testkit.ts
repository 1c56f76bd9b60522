import type { FormatName, JsonObject } from './conversation.ts';
import { isObject } from './json/object.ts';

export const MODELS: Readonly<Record<FormatName, string>> = {
  'openai-chat': 'gpt-5',
  'openai-responses': 'gpt-5',
  'anthropic-messages': 'claude-sonnet-4-5',
  gemini: 'gemini-2.5-flash',
};
export const FORMATS = Object.keys(MODELS) as FormatName[];

const ID = 'id';
const schema = { type: 'object', properties: {} };
const fn = (name: string): JsonObject => ({ name, description: 'd', parameters: schema });

/** A body that offers the tools, has called each of them with a call id of its own, and forces the first. */
const BODIES: Readonly<Record<FormatName, (names: readonly string[], ids: readonly string[]) => JsonObject>> = {
  'openai-chat': (names, ids) => ({
    model: 'm',
    tools: names.map((name) => ({ type: 'function', function: fn(name) })),
    tool_choice: { type: 'function', function: { name: names[0] } },
    messages: [
      { role: 'user', content: 'q' },
      {
        role: 'assistant',
        content: null,
        tool_calls: names.map((name, at) => ({ id: ids[at], type: 'function', function: { name, arguments: '{}' } })),
      },
      ...ids.map((id, at) => ({ role: 'tool', tool_call_id: id, name: names[at], content: 'r' })),
    ],
  }),
  'openai-responses': (names, ids) => ({
    model: 'm',
    tools: names.map((name) => ({ type: 'function', ...fn(name) })),
    tool_choice: { type: 'function', name: names[0] },
    input: [
      { role: 'user', content: 'q' },
      ...names.map((name, at) => ({ type: 'function_call', call_id: ids[at], name, arguments: '{}' })),
      ...ids.map((id) => ({ type: 'function_call_output', call_id: id, output: 'r' })),
    ],
  }),
  'anthropic-messages': (names, ids) => ({
    model: 'm',
    max_tokens: 100,
    tools: names.map((name) => ({ name, description: 'd', input_schema: schema })),
    tool_choice: { type: 'tool', name: names[0] },
    messages: [
      { role: 'user', content: 'q' },
      {
        role: 'assistant',
        content: names.map((name, at) => ({ type: 'tool_use', [ID]: ids[at], name, input: {} })),
      },
      { role: 'user', content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'r' })) },
    ],
  }),
  gemini: (names, ids) => ({
    tools: [{ functionDeclarations: names.map(fn) }],
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [names[0]] } },
    contents: [
      { role: 'user', parts: [{ text: 'q' }] },
      { role: 'model', parts: names.map((name, at) => ({ functionCall: { id: ids[at], name, args: {} } })) },
      {
        role: 'user',
        parts: names.map((name, at) => ({ functionResponse: { id: ids[at], name, response: { output: 'r' } } })),
      },
    ],
  }),
};

export const bodyWithTools = (format: FormatName, names: readonly string[], ids: readonly string[]): JsonObject =>
  BODIES[format](names, ids);

interface SentNames {
  /** Names of declared tools, in order. */
  readonly declared: readonly string[];
  /** Names in history and choice. */
  readonly used: readonly string[];
  /** Ids of calls, then of their results. */
  readonly ids: readonly string[];
}

const NAME_KEYS = new Set(['name', 'allowedFunctionNames']);
const ID_KEYS = new Set(['id', 'call_id', 'tool_call_id', 'tool_use_id']);

/** The names and ids of an encoded body, whatever its format. */
export function namesIn({ tools, ...rest }: JsonObject): SentNames {
  const texts = (value: unknown, keys: ReadonlySet<string>, key = ''): string[] => {
    if (typeof value === 'string') return keys.has(key) ? [value] : [];
    if (Array.isArray(value)) return value.flatMap((item: unknown) => texts(item, keys, key));
    if (!isObject(value)) return [];
    return Object.entries(value).flatMap(([name, inner]) => texts(inner, keys, name));
  };
  return { declared: texts(tools, NAME_KEYS), used: texts(rest, NAME_KEYS), ids: texts(rest, ID_KEYS) };
}
