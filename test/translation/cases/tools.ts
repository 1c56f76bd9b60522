import { call, calls, type Cases, city, clock, fn, hi, result, weather } from './case.ts';

const custom = (rest: Record<string, unknown> = {}) => ({ type: 'custom', custom: { name: 'shell', ...rest } });
const choose = (name: string) => ({ type: 'function', function: { name } });
const allow = (mode: string, ...names: readonly string[]) => ({
  type: 'allowed_tools',
  allowed_tools: { mode, tools: names.map(choose) },
});
const GENERATIONS = { gemini: ['gemini-2.5-flash', 'gemini-3-pro-preview'] } as const;

/** Tools (docs/protocols/requests.md#tools). */
export const tools: Cases = {
  function: { title: 'a function', request: { tools: [weather] } },
  'function-bare': { title: 'a function without description and parameters', request: { tools: [fn('ping')] } },
  'function-empty': {
    title: 'a function whose parameters are an empty object',
    request: { tools: [fn('ping', { parameters: { type: 'object', properties: {} } })] },
  },
  'function-rootless': {
    title: 'a function whose schema does not say that it is an object',
    request: { tools: [fn('weather', { parameters: { properties: { city: { type: 'string' } } } })] },
  },
  'two-functions': { title: 'two functions are one list', request: { tools: [weather, clock] } },
  'no-tools': { title: 'an empty list of tools is none', request: { tools: [] } },
  'choice-auto': { title: 'the model chooses', request: { tools: [weather], tool_choice: 'auto' } },
  'choice-none': { title: 'no tool may be called', request: { tools: [weather], tool_choice: 'none' } },
  'choice-required': { title: 'some tool must be called', request: { tools: [weather], tool_choice: 'required' } },
  'choice-named': {
    title: 'one tool must be called',
    request: { tools: [weather, clock], tool_choice: choose('weather') },
  },
  'choice-unknown': {
    title: 'a tool must be called that is not there',
    request: { tools: [weather], tool_choice: choose('clock') },
  },
  'choice-without-tools': { title: 'a choice where nothing can be chosen', request: { tool_choice: 'auto' } },
  'allowed-required': {
    title: 'one of some tools must be called',
    request: { tools: [weather, clock, fn('ping')], tool_choice: allow('required', 'weather', 'clock') },
  },
  'allowed-auto': {
    title: 'some tools may be called',
    request: { tools: [weather, clock, fn('ping')], tool_choice: allow('auto', 'weather', 'clock') },
  },
  'one-at-a-time': { title: 'one call at a time', request: { tools: [weather], parallel_tool_calls: false } },
  'one-at-a-time-required': {
    title: 'one call at a time, and one at least',
    request: { tools: [weather], parallel_tool_calls: false, tool_choice: 'required' },
  },
  'several-at-a-time': {
    title: 'several calls at a time, said so',
    request: { tools: [weather], parallel_tool_calls: true, tool_choice: 'auto' },
  },
  'forced-while-thinking': {
    title: 'a forced call while the model thinks within a budget',
    request: {
      tools: [weather, clock],
      tool_choice: choose('weather'),
      thinking: { type: 'enabled', budget_tokens: 1024 },
    },
    claude: ['claude-sonnet-4-5', 'claude-opus-4-7'],
  },
  'forced-on-mythos': {
    title: 'a forced call on models that cannot be forced',
    request: { tools: [weather], tool_choice: 'required' },
    claude: ['claude-fable-5-1', 'claude-sonnet-5-5'],
  },
  strict: {
    title: 'a strict function',
    request: { tools: [fn('weather', { strict: true, parameters: { ...city, additionalProperties: false } })] },
    gemini: ['gemini-2.0-flash-001', 'gemini-2.5-flash'],
    claude: ['claude-sonnet-4-20250514', 'claude-sonnet-4-5'],
  },
  'strict-auto': {
    title: 'a strict function and a free choice',
    request: { tools: [fn('weather', { strict: true, parameters: city })], tool_choice: 'auto' },
  },
  'strict-false': {
    title: 'a function that is not strict, said so',
    request: { tools: [fn('weather', { strict: false, parameters: city })] },
  },
  custom: { title: 'a free-text tool', request: { tools: [custom({ description: 'Runs a command.' })] } },
  'custom-grammar': {
    title: 'a free-text tool with a grammar',
    request: {
      tools: [custom({ format: { type: 'grammar', grammar: { syntax: 'regex', definition: '[a-z]+' } } })],
    },
  },
  'custom-forced': {
    title: 'a free-text tool that must be called',
    request: { tools: [custom()], tool_choice: { type: 'custom', custom: { name: 'shell' } } },
  },
  'custom-call': {
    title: 'a call of a free-text tool and its result',
    request: {
      tools: [custom()],
      messages: [
        hi,
        { role: 'assistant', tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'shell', input: 'ls' } }] },
        result('c', 'a.txt'),
      ],
    },
  },
  'functions-of-old': {
    title: 'functions and a forced call in the deprecated spelling',
    request: {
      functions: [{ name: 'weather', description: 'Weather of a city.', parameters: city }],
      function_call: { name: 'weather' },
    },
  },
  'search-by-name': { title: 'web search as a function of that name', request: { tools: [fn('web_search')] } },
  'search-by-type': { title: 'web search as a tool of that type', request: { tools: [{ type: 'web_search' }] } },
  'search-by-date': {
    title: 'web search as Anthropic writes it',
    request: {
      tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 2, blocked_domains: ['example.com'] }],
    },
  },
  'search-retrieval': {
    title: 'web search of the first generation',
    request: {
      tools: [
        fn('web_search_retrieval', {
          parameters: { dynamic_retrieval_config: { mode: 'MODE_DYNAMIC', dynamic_threshold: 0.5 } },
        }),
      ],
    },
    gemini: ['gemini-1.5-pro-002'],
  },
  'search-options': { title: 'web search as an option of the request', request: { web_search_options: {} } },
  'search-options-place': {
    title: 'web search as an option, from a place and with more context',
    request: {
      web_search_options: {
        search_context_size: 'high',
        user_location: { type: 'approximate', approximate: { city: 'Oslo', country: 'NO' } },
      },
    },
  },
  'search-and-function': {
    title: 'web search beside a function',
    request: { tools: [weather, { type: 'web_search' }] },
    ...GENERATIONS,
  },
  'url-context': { title: 'a tool that reads pages', request: { tools: [{ type: 'url_context' }] } },
  'code-execution': { title: 'a tool that runs code', request: { tools: [{ type: 'code_execution' }] } },
  'google-maps': {
    title: 'maps, from a place',
    request: {
      tools: [fn('google_maps', { parameters: { enableWidget: true, latLng: { latitude: 59.9, longitude: 10.7 } } })],
    },
  },
  'computer-use': {
    title: 'a browser to drive',
    request: { tools: [fn('computer_use', { parameters: { environment: 'ENVIRONMENT_BROWSER' } })] },
  },
  'enterprise-search': {
    title: 'search for enterprises',
    request: { tools: [{ type: 'enterprise_web_search' }] },
  },
  'calls-without-tools': {
    title: 'earlier calls, but no tools any more',
    request: { messages: [hi, calls(call('c', 'weather', '{"city":"Oslo"}')), result('c', 'rain')] },
  },
};
