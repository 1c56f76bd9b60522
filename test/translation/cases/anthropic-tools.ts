import { ALL, GEMINIS, tool } from './anthropic.ts';
import { city, type Case, type Cases } from './case.ts';

const given = (title: string, ...tools: readonly object[]): Case => ({ title, request: { tools } });
const choice = (title: string, tool_choice: object): Case => ({
  title,
  request: { tools: [tool('weather'), tool('clock')], tool_choice },
});

/** Tools (docs/protocols/anthropic-messages.md#tools, docs/protocols/requests.md#tools, docs/protocols/messages-route.md#typed-tools). */
export const anthropicTools: Cases = {
  'one-tool': { ...given('a tool', tool('weather')), ...ALL },
  'typed-custom': given('a tool that says it is the caller’s own', tool('weather', { type: 'custom' })),
  undescribed: given('a tool without a description', {
    name: 'clock',
    input_schema: { type: 'object', properties: {} },
  }),
  strict: {
    ...given(
      'a tool with a schema to be kept to',
      tool('weather', { strict: true, input_schema: { ...city, additionalProperties: false } }),
    ),
    ...ALL,
  },
  'own-fields': given(
    'what only Anthropic knows of a tool',
    tool('weather', {
      input_examples: [{ city: 'Oslo' }],
      defer_loading: true,
      eager_input_streaming: true,
      allowed_callers: ['direct'],
    }),
  ),
  schema: {
    ...given('a schema with references, alternatives and limits', {
      name: 'plan',
      input_schema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: {
          stops: { type: 'array', items: { $ref: '#/$defs/stop' }, minItems: 1 },
          note: { anyOf: [{ type: 'string', maxLength: 80 }, { type: 'null' }] },
        },
        required: ['stops'],
        additionalProperties: false,
        $defs: { stop: { type: 'object', properties: { city: { type: 'string', pattern: '^[A-Z]' } } } },
      },
    }),
    ...GEMINIS,
  },
  bash: given('a typed tool of the client: bash', { type: 'bash_20250124', name: 'bash' }),
  'text-editor': given('a typed tool of the client: the text editor', {
    type: 'text_editor_20250728',
    name: 'str_replace_based_edit_tool',
  }),
  memory: given('a typed tool of the client: memory', { type: 'memory_20250818', name: 'memory' }),
  'bash-beside': {
    ...given('a typed tool of the client beside an ordinary one', tool('weather'), {
      type: 'bash_20250124',
      name: 'bash',
    }),
    ...ALL,
  },
  computer: given('a computer to be used', {
    type: 'computer_20250124',
    name: 'computer',
    display_width_px: 1024,
    display_height_px: 768,
  }),
  'web-search': { ...given('a search of the web', { type: 'web_search_20250305', name: 'web_search' }), ...ALL },
  'web-search-settings': given('a search of the web with settings', {
    type: 'web_search_20260209',
    name: 'web_search',
    max_uses: 3,
    allowed_domains: ['example.com'],
    user_location: { type: 'approximate', city: 'Oslo', country: 'NO', timezone: 'Europe/Oslo' },
  }),
  'web-search-blocked': given('a search that leaves places out', {
    type: 'web_search_20250305',
    name: 'web_search',
    blocked_domains: ['example.com'],
  }),
  'web-search-beside': {
    ...given('a search beside a tool', tool('weather'), { type: 'web_search_20250305', name: 'web_search' }),
    ...GEMINIS,
  },
  'web-fetch': given('pages of the web', { type: 'web_fetch_20250910', name: 'web_fetch', max_uses: 2 }),
  'code-execution': given('code the model runs', { type: 'code_execution_20250825', name: 'code_execution' }),
  'tool-search': given('a search among tools', tool('weather', { defer_loading: true }), {
    type: 'tool_search_tool_regex_20251119',
    name: 'tool_search_tool_regex',
  }),
  'tool-unknown': given('a tool of an unknown type', { type: 'hologram_20270101', name: 'hologram' }),
  'choice-auto': { ...choice('a tool if the model likes', { type: 'auto' }), ...ALL },
  'choice-any': { ...choice('some tool in any case', { type: 'any' }), ...ALL },
  'choice-tool': { ...choice('one tool in any case', { type: 'tool', name: 'clock' }), ...ALL },
  'choice-none': { ...choice('no tool', { type: 'none' }), ...ALL },
  'choice-unknown': choice('an unknown choice', { type: 'whim' }),
  'auto-one-at-a-time': { ...choice('one tool at a time', { type: 'auto', disable_parallel_tool_use: true }), ...ALL },
  'any-one-at-a-time': choice('exactly one tool', { type: 'any', disable_parallel_tool_use: true }),
  'tool-one-at-a-time': choice('exactly this tool, once', {
    type: 'tool',
    name: 'clock',
    disable_parallel_tool_use: true,
  }),
  'several-at-a-time': choice('parallel tools are allowed', { type: 'auto', disable_parallel_tool_use: false }),
  'choice-without-tools': { title: 'a choice among no tools', request: { tool_choice: { type: 'auto' } } },
  'no-tools': { title: 'an empty list of tools', request: { tools: [] } },
};
