/** As field-probes.ts, for every field of a request of the Responses API (docs/protocols/openai-responses.md#request). */
import { MODEL_OF_PROBE, type Probe } from './field-probes.ts';
import type { Json } from './outbound.ts';

const hi = { role: 'user', content: 'hi' } as const;
const schema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
} as const;
const weather = { type: 'function', name: 'get_weather', parameters: schema, strict: true } as const;
const patch = { type: 'custom', name: 'patch', format: { type: 'text' } } as const;
const crm = { type: 'namespace', name: 'crm', description: 'Customers.', tools: [weather] } as const;
const call = { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{}' } as const;
const output = { type: 'function_call_output', call_id: 'call_1', output: 'warm' } as const;
const tools = { tools: [weather] } as const;

const responses = (probe: Omit<Probe, 'client'>): Probe => ({ ...probe, client: 'responses' });

/** `beside` is what the field needs around it, and is there with and without it. */
const one = (field: string, content: unknown, beside: Json = {}): Probe =>
  responses({ field, path: [field], request: { ...beside, [field]: content } });

const values = (field: string, all: Readonly<Record<string, unknown>>, beside: Json = {}): readonly Probe[] =>
  Object.entries(all).map(([value, content]) => ({ ...one(field, content, beside), value }));

/** A field within one that is there with and without it. */
const within = (field: string, content: unknown, beside: Json = {}): Probe => {
  const [outer, inner] = field.split('.') as [string, string];
  return responses({ field, path: [outer, inner], request: { ...beside, [outer]: { [inner]: content } } });
};

/** In the order of the schema; a test compares. */
export const RESPONSES_TOP_LEVEL: readonly Probe[] = [
  responses({ field: 'model', path: ['model'], request: {}, instead: MODEL_OF_PROBE }),
  responses({
    field: 'input',
    path: ['input'],
    request: { input: [hi, { role: 'assistant', content: 'ho' }, hi] },
    instead: [hi],
  }),
  one('instructions', 'Be brief.'),
  one('stream', true),
  one('stream_options', { include_obfuscation: false }, { stream: true }),
  responses({
    field: 'max_output_tokens',
    path: ['max_output_tokens'],
    request: { max_output_tokens: 90 },
    instead: 80,
  }),
  one('max_tool_calls', 3),
  one('temperature', 0.7),
  one('top_p', 0.9),
  one('top_logprobs', 3),
  one('presence_penalty', 0.5),
  one('frequency_penalty', 0.5),
  one('tools', [weather]),
  ...values(
    'tool_choice',
    {
      auto: 'auto',
      none: 'none',
      required: 'required',
      function: { type: 'function', name: 'get_weather' },
      allowed_tools: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'get_weather' }] },
    },
    tools,
  ),
  one('parallel_tool_calls', false, tools),
  within('text.format', { type: 'json_schema', name: 'city', schema, strict: true }),
  within('text.verbosity', 'low'),
  within('reasoning.effort', 'low'),
  within('reasoning.summary', 'auto'),
  one('include', ['reasoning.encrypted_content']),
  one('store', true),
  one('previous_response_id', 'resp_1'),
  one('conversation', 'conv_1'),
  one('prompt', { id: 'pmpt_1' }),
  one('background', true),
  one('truncation', 'auto'),
  one('context_management', [{ type: 'compaction', compact_threshold: 100_000 }]),
  one('metadata', { team: 'search' }),
  one('client_metadata', { session: 's' }),
  one('user', 'user-1'),
  one('safety_identifier', 'user-1'),
  one('prompt_cache_key', 'key'),
  one('prompt_cache_options', { mode: 'auto' }),
  one('prompt_cache_retention', '24h'),
  one('moderation', { model: 'omni-moderation-latest' }),
  ...values('service_tier', { default: 'default', flex: 'flex', priority: 'priority' }),
];

/** An item of the input, beside the user's message and what it needs. */
const item = (field: string, value: Json, { before = [], after = [], ...beside }: Beside = {}): Probe =>
  responses({
    field,
    path: ['input', 1 + before.length],
    request: { ...beside, input: [hi, ...before, value, ...after] },
  });

interface Beside extends Json {
  readonly before?: readonly Json[];
  readonly after?: readonly Json[];
}

const part = (field: string, value: Json): Probe =>
  responses({
    field,
    path: ['input', 0, 'content', 1],
    request: { input: [{ role: 'user', content: [{ type: 'input_text', text: 'hi' }, value] }] },
  });

const tool = (field: string, value: Json): Probe =>
  responses({ field, path: ['tools', 1], request: { tools: [weather, value] } });

const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export const RESPONSES_NESTED: readonly Probe[] = [
  item('input[] message, role developer', { role: 'developer', content: 'Be brief.' }, { after: [hi] }),
  item(
    'input[] reasoning',
    { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'opaque' },
    { after: [{ role: 'assistant', content: 'ho' }, hi] },
  ),
  responses({
    field: 'input[] function_call, function_call_output',
    path: ['input'],
    request: { ...tools, input: [hi, call, output] },
    instead: [hi],
  }),
  responses({
    field: 'input[] custom_tool_call, custom_tool_call_output',
    path: ['input'],
    request: {
      tools: [patch],
      input: [
        hi,
        { type: 'custom_tool_call', call_id: 'call_1', name: 'patch', input: 'x' },
        { type: 'custom_tool_call_output', call_id: 'call_1', output: 'done' },
      ],
    },
    instead: [hi],
  }),
  item('input[] additional_tools', { type: 'additional_tools', role: 'developer', tools: [weather] }, { after: [hi] }),
  item(
    'input[] web_search_call',
    { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } },
    { after: [{ role: 'assistant', content: 'ho' }, hi] },
  ),
  item('input[] item_reference', { type: 'item_reference', id: 'msg_1' }, { after: [hi] }),
  item('input[] compaction', { type: 'compaction', encrypted_content: 'opaque' }, { after: [hi] }),
  part('content[] input_image', { type: 'input_image', image_url: PNG }),
  part('content[] input_image, file_id', { type: 'input_image', file_id: 'file_1' }),
  part('content[] input_file', {
    type: 'input_file',
    filename: 'a.pdf',
    file_data: 'data:application/pdf;base64,JVBERi0=',
  }),
  tool('tools[] function', { ...weather, name: 'other' }),
  tool('tools[] custom', patch),
  tool('tools[] namespace', crm),
  tool('tools[] tool_search', { type: 'tool_search', execution: 'client', parameters: schema }),
  tool('tools[] web_search', { type: 'web_search' }),
  tool('tools[] file_search', { type: 'file_search', vector_store_ids: ['vs_1'] }),
  tool('tools[] code_interpreter', { type: 'code_interpreter', container: { type: 'auto' } }),
  tool('tools[] image_generation', { type: 'image_generation' }),
  ...(['never', 'always'] as const).map((require_approval) => ({
    ...tool('tools[] mcp', { type: 'mcp', server_label: 'x', server_url: 'https://mcp.example', require_approval }),
    value: `require_approval: ${require_approval}`,
  })),
  tool('tools[] computer_use_preview', {
    type: 'computer_use_preview',
    display_width: 1,
    display_height: 1,
    environment: 'browser',
  }),
  responses({ field: 'tools[].strict', path: ['tools', 0, 'strict'], request: tools }),
  responses({
    field: 'tools[].defer_loading',
    path: ['tools', 0, 'defer_loading'],
    request: { tools: [{ ...weather, defer_loading: true }] },
  }),
];
