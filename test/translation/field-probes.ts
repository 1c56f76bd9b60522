/**
 * For every field of a chat request: a request that uses it, and what to take away (or to put instead) to see what it does.
 * Values are chosen to ask for something: `n: 1` would change nothing anywhere.
 */
import type { Client, Json } from './outbound.ts';

/** Stands for the name of the upstream's model, with something behind it. */
export const MODEL_OF_PROBE = Symbol('another model');

export interface Probe {
  /** The API the request is written for; default: chat. */
  readonly client?: Client;
  /** As the table names it: `seed`, `messages[].name`. */
  readonly field: string;
  /** Where the field is in `request`. */
  readonly path: readonly (string | number)[];
  readonly request: Json;
  /** For a field without which there is no request: the value it is compared with. */
  readonly instead?: unknown;
  /** How the value is called where a field does different things for different values. */
  readonly value?: string;
}

const hi = [{ role: 'user', content: 'hi' }];
const weather = { type: 'function', function: { name: 'get_weather', description: 'Weather of a city.' } };
const schema = { type: 'object', properties: { city: { type: 'string' } } };

/** `beside` is what the field needs around it, and is there with and without it. */
const one = (field: string, content: unknown, beside: Json = {}): Probe => ({
  field,
  path: [field],
  request: { ...beside, [field]: content },
});

/** Different values of one field, by what the table calls them. */
const values = (field: string, all: Readonly<Record<string, unknown>>): readonly Probe[] =>
  Object.entries(all).map(([value, content]) => ({ ...one(field, content), value }));

/** In the order of the schema; a test compares. */
export const TOP_LEVEL: readonly Probe[] = [
  { field: 'model', path: ['model'], request: {}, instead: MODEL_OF_PROBE },
  {
    field: 'messages',
    path: ['messages'],
    request: { messages: [...hi, { role: 'assistant', content: 'ho' }] },
    instead: hi,
  },
  {
    field: 'max_completion_tokens',
    path: ['max_completion_tokens'],
    request: { max_completion_tokens: 9 },
    instead: 8,
  },
  { field: 'max_tokens', path: ['max_tokens'], request: { max_tokens: 9 }, instead: 8 },
  one('temperature', 0.7),
  one('top_p', 0.9),
  one('top_k', 40),
  ...values('n', { 2: 2 }),
  one('stop', ['END']),
  one('frequency_penalty', 0.5),
  one('presence_penalty', 0.5),
  one('logit_bias', { 50256: -100 }),
  one('logprobs', true),
  one('top_logprobs', 5, { logprobs: true }),
  one('seed', 42),
  one('stream', true),
  one('stream_options', { include_usage: true }, { stream: true }),
  one('tools', [weather]),
  one('tool_choice', 'required', { tools: [weather] }),
  one('parallel_tool_calls', false, { tools: [weather] }),
  one('functions', [weather.function]),
  one('function_call', { name: 'get_weather' }, { functions: [weather.function] }),
  ...values('response_format', {
    json_object: { type: 'json_object' },
    json_schema: { type: 'json_schema', json_schema: { name: 'city', schema } },
  }),
  one('reasoning_effort', 'low'),
  one('thinking', { type: 'enabled', budget_tokens: 2048 }),
  one('verbosity', 'low'),
  ...values('modalities', { image: ['text', 'image'] }),
  ...values('audio', { pcm16: { voice: 'Kore', format: 'pcm16' }, mp3: { voice: 'Kore', format: 'mp3' } }),
  one('prediction', { type: 'content', content: 'Hello' }),
  one('web_search_options', {}),
  one('metadata', { team: 'search' }),
  one('store', true),
  one('user', 'user-123'),
  one('safety_identifier', 'b3f1'),
  one('prompt_cache_key', 'support-bot'),
  one('prompt_cache_options', { mode: 'explicit', ttl: '30m' }),
  one('prompt_cache_retention', '24h'),
  one('moderation', { model: 'omni-moderation-latest' }),
  ...values('service_tier', { default: 'default', priority: 'priority' }),
  one('labels', { team: 'search' }),
  one('safety_settings', [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }]),
  one('image_config', { aspect_ratio: '16:9' }),
  one('anthropic_beta', ['context-1m-2025-08-07']),
  one('anthropic_version', '2026-10-21'),
];

/** A field of a message; `others` stand before it. */
function message(field: string, message: Json, others: readonly Json[] = [], beside: Json = {}): Probe {
  return {
    field: `messages[].${field}`,
    path: ['messages', others.length, ...field.split('.')],
    request: { ...beside, messages: [...others, message] },
  };
}

const cache = { type: 'ephemeral', ttl: '1h' };
const signature = 'c2lnbmF0dXJl';
const png = 'data:image/png;base64,iVBORw0KGgo=';

function part(field: string, content: Json, value?: string, role = 'user'): Probe {
  return {
    field: `content[].${field}`,
    path: ['messages', 1, 'content', 1, ...field.split('.')],
    request: { messages: [...hi, { role, content: [{ type: 'text', text: 'see' }, content] }] },
    ...(value !== undefined && { value }),
  };
}

/** A whole part: with it, and with the text beside it only. */
function wholePart(field: string, content: Json, value?: string, role = 'user'): Probe {
  const probe = part(field, content, value, role);
  return { ...probe, path: probe.path.slice(0, 4) };
}

const call = (rest: Json, fn: Json = {}): Json => ({
  id: 'call_1',
  type: 'function',
  function: { name: 'get_weather', arguments: '{"city":"Oslo"}', ...fn },
  ...rest,
});

function toolCall(field: string, content: Json, instead?: unknown): Probe {
  const answer = { role: 'tool', tool_call_id: 'call_1', content: 'rain' };
  return {
    field: `tool_calls[].${field}`,
    path: ['messages', 1, 'tool_calls', 0, ...field.split('.')],
    request: { messages: [...hi, { role: 'assistant', tool_calls: [content] }, answer] },
    ...(instead !== undefined && { instead }),
  };
}

function tool(field: string, content: Json, value?: string, beside: Json = {}): Probe {
  return {
    field: `tools[].${field}`,
    path: ['tools', 0, ...field.split('.')],
    request: { ...beside, tools: [content] },
    ...(value !== undefined && { value }),
  };
}

/** A whole tool beside an ordinary one. */
function wholeTool(content: Json, value: string): Probe {
  return { field: 'tools[].type', path: ['tools', 1], request: { tools: [weather, content] }, value };
}

const withFn = (fn: Json): Json => ({ type: 'function', function: { name: 'get_weather', ...fn } });
const audioPart = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } };
const file = (rest: Json): Json => ({
  type: 'file',
  file: { file_data: 'data:application/pdf;base64,JVBERi0=', ...rest },
});
const image = (rest: Json): Json => ({ type: 'image_url', image_url: { url: png, ...rest } });

/** Fields of messages, parts, calls and tools. */
export const NESTED: readonly Probe[] = [
  ...['system', 'developer', 'user', 'assistant'].map((role): Probe => ({
    field: 'messages[].role',
    path: ['messages', 1],
    request: { messages: [...hi, { role, content: 'Be brief.' }] },
    value: role,
  })),
  { ...message('content', { role: 'user', content: 'hi' }), instead: 'ho' },
  message('name', { role: 'user', content: 'hi', name: 'ada' }),
  message('tool_calls', { role: 'assistant', content: 'wait', tool_calls: [call({})] }, hi),
  {
    ...message('tool_call_id', { role: 'tool', tool_call_id: 'call_1', name: 'get_weather', content: 'rain' }, [
      ...hi,
      { role: 'assistant', tool_calls: [call({})] },
    ]),
    path: ['messages', 2],
  },
  message('function_call', { role: 'assistant', content: 'wait', function_call: { name: 'f', arguments: '{}' } }, hi),
  message('refusal', { role: 'assistant', refusal: 'I cannot.' }, hi),
  message('audio', { role: 'assistant', audio: { id: 'audio_1' } }, hi),
  message(
    'content_blocks',
    { role: 'assistant', content_blocks: [{ type: 'thinking', thinking: 'Hm.', signature }] },
    hi,
  ),
  message('content_parts', { role: 'assistant', content_parts: [image({})] }, hi),
  message('reasoning_content', { role: 'assistant', content: 'hi', reasoning_content: 'Hm.' }, hi),
  message('cache_control', { role: 'user', content: 'hi', cache_control: cache }),
  wholePart('text', { type: 'text', text: 'this' }),
  part('signature', { type: 'text', text: 'this', signature }, undefined, 'assistant'),
  wholePart('image_url', image({}), '`data:`'),
  wholePart('image_url', image({ url: 'https://files.example/a.png' }), '`https:`'),
  wholePart('image_url', image({ url: 'gs://bucket/a.png' }), '`gs:`'),
  part('image_url.detail', image({ detail: 'high' })),
  part('image_url.mime_type', image({ mime_type: 'image/webp' })),
  part('image_url.format', image({ format: 'image/webp' })),
  wholePart('input_audio', audioPart),
  wholePart('file.file_data', file({})),
  wholePart('file.file_id', { type: 'file', file: { file_id: 'file_1' } }),
  wholePart('file.file_url', { type: 'file', file: { file_url: 'https://files.example/a.pdf' } }),
  part('file.filename', file({ filename: 'a.pdf' })),
  part('file.mime_type', file({ file_data: 'JVBERi0=', mime_type: 'text/plain' })),
  part('file.format', file({ file_data: 'JVBERi0=', format: 'text/plain' })),
  wholePart('refusal', { type: 'refusal', refusal: 'I cannot.' }, undefined, 'assistant'),
  wholePart('thinking', { type: 'thinking', thinking: 'Hm.', signature }, undefined, 'assistant'),
  wholePart('redacted_thinking', { type: 'redacted_thinking', data: 'AAAA' }, undefined, 'assistant'),
  part('cache_control', { type: 'text', text: 'this', cache_control: cache }),
  part('prompt_cache_breakpoint', { type: 'text', text: 'this', prompt_cache_breakpoint: { mode: 'explicit' } }),
  toolCall('function.name', call({}), 'other'),
  toolCall('function.arguments', call({})),
  toolCall('function.thought_signature', call({}, { thought_signature: signature })),
  toolCall('extra_content', call({ extra_content: { google: { thought_signature: signature } } })),
  toolCall('cache_control', call({ cache_control: cache })),
  {
    ...toolCall('custom', { id: 'call_1', type: 'custom', custom: { name: 'f', input: 'x' } }, call({})),
    path: ['messages', 1, 'tool_calls', 0],
  },
  tool('function.description', withFn({ description: 'Weather of a city.' })),
  tool('function.parameters', withFn({ parameters: schema })),
  tool('function.strict', withFn({ strict: true })),
  tool('function.cache_control', withFn({ cache_control: cache })),
  tool('cache_control', { ...weather, cache_control: cache }),
  wholeTool({ type: 'custom', custom: { name: 'f' } }, 'custom'),
  wholeTool({ type: 'function', function: { name: 'web_search' } }, 'function named `web_search`'),
  wholeTool({ type: 'web_search' }, 'web_search'),
  wholeTool({ type: 'web_search_20250305', name: 'web_search', max_uses: 2 }, 'web_search_20250305'),
  wholeTool({ type: 'code_execution' }, 'code_execution'),
  wholeTool({ type: 'url_context' }, 'url_context'),
  wholeTool({ type: 'google_maps' }, 'google_maps'),
  wholeTool({ type: 'computer_use', environment: 'ENVIRONMENT_BROWSER' }, 'computer_use'),
  tool('custom.format', {
    type: 'custom',
    custom: { name: 'f', format: { type: 'grammar', grammar: { syntax: 'regex', definition: 'a+' } } },
  }),
];
