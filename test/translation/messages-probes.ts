/** As field-probes.ts, for every field of a request of the Messages API (docs/protocols/anthropic-messages.md#request-fields). */
import { MODEL_OF_PROBE, type Probe } from './field-probes.ts';
import type { Json } from './outbound.ts';

const hi = { role: 'user', content: 'hi' } as const;
const weather = { name: 'get_weather', input_schema: { type: 'object', properties: { city: { type: 'string' } } } };
const cache = { type: 'ephemeral', ttl: '1h' } as const;
const schema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
} as const;

const messages = (probe: Omit<Probe, 'client'>): Probe => ({ ...probe, client: 'messages' });

/** `beside` is what the field needs around it, and is there with and without it. */
const one = (field: string, content: unknown, beside: Json = {}): Probe =>
  messages({ field, path: [field], request: { ...beside, [field]: content } });

/** Different values of one field, by what the table calls them. */
const values = (field: string, all: Readonly<Record<string, unknown>>, beside: Json = {}): readonly Probe[] =>
  Object.entries(all).map(([value, content]) => ({ ...one(field, content, beside), value }));

/** A field within one that is there with and without it. */
const within = (field: string, content: unknown, beside: Json = {}): Probe => {
  const [outer, inner] = field.split('.') as [string, string];
  return messages({ field, path: [outer, inner], request: { ...beside, [outer]: { [inner]: content } } });
};

const roomy = { max_tokens: 40_000 } as const;

/** In the order of the table (docs/protocols/anthropic-messages.md#request-fields); a test compares with the schema. */
export const MESSAGES_TOP_LEVEL: readonly Probe[] = [
  messages({ field: 'model', path: ['model'], request: {}, instead: MODEL_OF_PROBE }),
  messages({
    field: 'messages',
    path: ['messages'],
    request: { messages: [hi, { role: 'assistant', content: 'ho' }, hi] },
    instead: [hi],
  }),
  messages({ field: 'max_tokens', path: ['max_tokens'], request: { max_tokens: 9 }, instead: 8 }),
  one('system', 'Be brief.'),
  one('stop_sequences', ['END']),
  one('stream', true),
  one('temperature', 0.7),
  one('top_p', 0.9),
  one('top_k', 40),
  ...values(
    'thinking',
    {
      enabled: { type: 'enabled', budget_tokens: 2048 },
      adaptive: { type: 'adaptive' },
      disabled: { type: 'disabled' },
      between_tools: { type: 'between_tools' },
    },
    roomy,
  ),
  within('output_config.effort', 'low'),
  within('output_config.format', { type: 'json_schema', schema }),
  within('output_config.task_budget', { type: 'tokens', total: 100_000 }),
  one('tools', [weather]),
  ...values(
    'tool_choice',
    {
      auto: { type: 'auto' },
      any: { type: 'any' },
      tool: { type: 'tool', name: 'get_weather' },
      none: { type: 'none' },
    },
    { tools: [weather] },
  ),
  messages({
    field: 'tool_choice.disable_parallel_tool_use',
    path: ['tool_choice', 'disable_parallel_tool_use'],
    request: { tools: [weather], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
  }),
  within('metadata.user_id', 'user-123'),
  ...values('service_tier', { auto: 'auto', standard_only: 'standard_only' }),
  one('cache_control', cache),
  one('container', 'container_1'),
  one('context_management', { edits: [{ type: 'clear_tool_uses_20250919' }] }),
  one('mcp_servers', [{ type: 'url', url: 'https://mcp.example/sse', name: 'demo' }]),
  one('inference_geo', 'us'),
  one('speed', 'fast'),
  one('diagnostics', { previous_message_id: 'msg_1' }),
  one('fallbacks', 'default'),
];

const signature = 'Eg4KDAgBGAIiAwECAwQFBg==';
const png = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } as const;
const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } as const;

/** A block beside two texts, which stay a list without it: with it, and with the texts only. */
function block(content: Json, value?: string, role = 'user'): Probe {
  const turn = { role, content: [{ type: 'text', text: 'look' }, { type: 'text', text: 'see' }, content] };
  return messages({
    field: String(content['type']),
    path: ['messages', 1, 'content', 2],
    request: { messages: [hi, turn, ...(role === 'assistant' ? [hi] : [])] },
    ...(value !== undefined && { value }),
  });
}

/** A field of such a block. */
function fieldOf(content: Json, field: string, role = 'user'): Probe {
  const whole = block(content, undefined, role);
  return { ...whole, field: `${whole.field}.${field}`, path: [...whole.path, field] };
}

/** A field of a call's result, or all of it. */
function result(fields: Json, field: string, value?: string): Probe {
  const use = { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: {} };
  const answer = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'rain', ...fields };
  return messages({
    field: `tool_result.${field}`,
    path: ['messages', 2, 'content', 0, field],
    request: { messages: [hi, { role: 'assistant', content: [use] }, { role: 'user', content: [answer] }] },
    ...(value !== undefined && { value }),
  });
}

function tool(fields: Json, field: string): Probe {
  return messages({
    field: `tools[].${field}`,
    path: ['tools', 0, field],
    request: { tools: [{ ...weather, ...fields }] },
  });
}

/** A whole tool beside an ordinary one. */
const wholeTool = (type: string, rest: Json = {}): Probe =>
  messages({
    field: 'tools[].type',
    path: ['tools', 1],
    request: { tools: [weather, { type, name: type.replace(/_20\d+$/, ''), ...rest }] },
    value: type,
  });

const searched = {
  type: 'web_search_tool_result',
  tool_use_id: 'srvtoolu_1',
  content: [{ type: 'web_search_result', url: 'https://example.com', title: 'Oslo', encrypted_content: 'AAAA' }],
} as const;

/** Blocks and their fields, results and tools. */
export const MESSAGES_NESTED: readonly Probe[] = [
  messages({
    field: 'role: system',
    path: ['messages', 2],
    request: { messages: [hi, { role: 'assistant', content: 'ho' }, { role: 'system', content: 'Be brief.' }] },
  }),
  block({ type: 'text', text: 'this' }),
  fieldOf({ type: 'text', text: 'this', cache_control: cache }, 'cache_control'),
  fieldOf(
    { type: 'text', text: 'this', citations: [{ type: 'page_location', cited_text: 'this', document_index: 0 }] },
    'citations',
    'assistant',
  ),
  block({ type: 'image', source: png }, 'base64'),
  block({ type: 'image', source: { type: 'url', url: 'https://files.example/a.png' } }, 'url'),
  block({ type: 'image', source: { type: 'file', file_id: 'file_1' } }, 'file'),
  block({ type: 'document', source: pdf }, 'base64'),
  block({ type: 'document', source: { type: 'url', url: 'https://files.example/a.pdf' } }, 'url'),
  block({ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Rain.' } }, 'text'),
  block({ type: 'document', source: { type: 'content', content: 'Rain.' } }, 'content'),
  block({ type: 'document', source: { type: 'file', file_id: 'file_1' } }, 'file'),
  fieldOf({ type: 'document', source: pdf, title: 'Report' }, 'title'),
  fieldOf({ type: 'document', source: pdf, context: 'Draft.' }, 'context'),
  fieldOf({ type: 'document', source: pdf, citations: { enabled: true } }, 'citations'),
  block({
    type: 'search_result',
    source: 'https://example.com',
    title: 'Oslo',
    content: [{ type: 'text', text: 'Rain.' }],
  }),
  block({ type: 'thinking', thinking: 'Hm.', signature }, undefined, 'assistant'),
  block({ type: 'redacted_thinking', data: 'AAAA' }, undefined, 'assistant'),
  block({ type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Oslo' } }, undefined, 'assistant'),
  result({}, 'content', 'text'),
  result({ content: [{ type: 'image', source: png }] }, 'content', 'image'),
  result({ is_error: true }, 'is_error'),
  block(
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'Oslo' } },
    undefined,
    'assistant',
  ),
  block(searched, undefined, 'assistant'),
  block({ type: 'container_upload', file_id: 'file_1' }),
  tool({ description: 'Weather of a city.' }, 'description'),
  tool({}, 'input_schema'),
  tool({ strict: true, input_schema: schema }, 'strict'),
  tool({ cache_control: cache }, 'cache_control'),
  tool({ defer_loading: true }, 'defer_loading'),
  wholeTool('bash_20250124'),
  wholeTool('web_search_20250305'),
  wholeTool('web_fetch_20250910'),
  wholeTool('code_execution_20250825'),
];
