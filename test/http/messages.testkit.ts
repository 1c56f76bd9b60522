/**
 * Bodies of `/v1/messages` as clients of Claude write them (docs/protocols/anthropic-messages.md#request-fields,
 * docs/protocols/anthropic-messages.md#content-blocks, docs/protocols/anthropic-messages.md#tools), and with fields that no API has
 * documented yet.
 */
const hi = { role: 'user', content: 'hi' };
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PDF = 'JVBERi0xLjQK';

const user = (...content: object[]) => ({ messages: [{ role: 'user', content }] });
/** A conversation in which the assistant said these blocks. */
const said = (...content: object[]) => ({
  messages: [hi, { role: 'assistant', content }, { role: 'user', content: 'go on' }],
});
const searched = {
  type: 'web_search_tool_result',
  tool_use_id: 'srvtoolu_1',
  content: [
    { type: 'web_search_result', url: 'https://a.example', title: 'A', encrypted_content: 'RW5j', page_age: null },
  ],
};
const serverUse = (name: string) => ({ type: 'server_tool_use', id: 'srvtoolu_1', name, input: { query: 'q' } });
const tool = {
  name: 'weather',
  description: 'W',
  input_schema: { type: 'object', properties: { city: { type: 'string' } } },
};
const use = { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } };
const result = (more: object) => ({
  messages: [
    hi,
    { role: 'assistant', content: [use] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', ...more }] },
  ],
});

export const BODIES: Readonly<Record<string, object>> = {
  'a text': {},
  'blocks of text': user(
    { type: 'text', text: 'a' },
    { type: 'text', text: 'b', cache_control: { type: 'ephemeral' } },
  ),
  'a system text': { system: 'Be brief.' },
  'system blocks with a marker': {
    system: [{ type: 'text', text: 'S', cache_control: { type: 'ephemeral', ttl: '1h' } }],
  },
  'a system turn': { messages: [hi, { role: 'system', content: 'From now on in rhyme.' }, hi] },
  'turns of one role in a row': { messages: [hi, hi, hi] },
  'a prefill': { messages: [hi, { role: 'assistant', content: 'The answer is' }] },
  'an image as data': user({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }),
  'an image by address': user({ type: 'image', source: { type: 'url', url: 'https://a.example/x.png' } }),
  'an image as a file': user({
    type: 'image',
    source: { type: 'file', file_id: 'file_1' },
    transformations: { oversized_image: 'downsize' },
  }),
  'a PDF': user({
    type: 'document',
    source: { type: 'base64', media_type: 'application/pdf', data: PDF },
    title: 'T',
    context: 'C',
    citations: { enabled: true },
  }),
  'a PDF by address': user({ type: 'document', source: { type: 'url', url: 'https://a.example/x.pdf' } }),
  'a text document': user({ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } }),
  'a document of blocks': user({
    type: 'document',
    source: { type: 'content', content: [{ type: 'text', text: 'x' }] },
  }),
  'a search result': user({
    type: 'search_result',
    source: 's',
    title: 't',
    content: [{ type: 'text', text: 'x' }],
    citations: { enabled: true },
  }),
  'signed thinking': said({ type: 'thinking', thinking: 'hm', signature: 'c2ln' }, { type: 'text', text: 'a' }),
  'redacted thinking': said({ type: 'redacted_thinking', data: 'abc' }, { type: 'text', text: 'a' }),
  'a call and its result': result({ content: 'rain' }),
  'a result that failed': result({ content: 'no', is_error: true }),
  'a result of blocks': result({
    content: [
      { type: 'text', text: 'x' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
      { type: 'tool_reference', tool_name: 'f' },
    ],
  }),
  'a result without content': result({}),
  'a web search': said(serverUse('web_search'), searched, {
    type: 'text',
    text: 'x',
    citations: [{ type: 'web_search_result_location', url: 'u', title: 't', cited_text: 'c', encrypted_index: 'e' }],
  }),
  'a web fetch': said(serverUse('web_fetch'), {
    type: 'web_fetch_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: {
      type: 'web_fetch_result',
      url: 'u',
      content: { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } },
    },
  }),
  'code that ran': said(serverUse('bash_code_execution'), {
    type: 'bash_code_execution_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: { type: 'bash_code_execution_result', stdout: '1', stderr: '', return_code: 0, content: [] },
  }),
  'an edit that failed': said({
    type: 'text_editor_code_execution_tool_result',
    tool_use_id: 's',
    content: { type: 'text_editor_code_execution_tool_result_error', error_code: 'unavailable' },
  }),
  'a tool search': said(serverUse('tool_search_tool_regex'), {
    type: 'tool_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: { type: 'tool_search_tool_search_result', tool_references: [{ type: 'tool_reference', tool_name: 'f' }] },
  }),
  'an MCP call': said(
    { type: 'mcp_tool_use', id: 'mcptoolu_1', name: 'f', server_name: 's', input: {} },
    { type: 'mcp_tool_result', tool_use_id: 'mcptoolu_1', is_error: false, content: [{ type: 'text', text: 'x' }] },
  ),
  'an upload into a container': user({ type: 'container_upload', file_id: 'file_1' }),
  'a compaction': said({ type: 'compaction', content: 'So far: nothing.' }, { type: 'text', text: 'x' }),
  'a call by code': said({ ...use, caller: { type: 'code_execution_20250825', tool_id: 'srvtoolu_1' } }),
  tools: {
    tools: [
      {
        ...tool,
        strict: true,
        defer_loading: true,
        input_examples: [{ city: 'Oslo' }],
        cache_control: { type: 'ephemeral' },
      },
    ],
  },
  'client tools by type': {
    tools: [
      { type: 'bash_20250124', name: 'bash' },
      { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool', max_characters: 9 },
      { type: 'memory_20250818', name: 'memory' },
    ],
  },
  'server tools': {
    tools: [
      {
        type: 'web_search_20260318',
        name: 'web_search',
        max_uses: 2,
        user_location: { type: 'approximate', city: 'Oslo' },
      },
      { type: 'tool_search_tool_bm25_20251119', name: 't' },
    ],
  },
  'a computer': { tools: [{ type: 'computer_20251124', name: 'computer', display_width_px: 1, display_height_px: 1 }] },
  'a choice of tool': {
    tools: [tool],
    tool_choice: { type: 'tool', name: 'weather', disable_parallel_tool_use: true },
  },
  'manual thinking': { thinking: { type: 'enabled', budget_tokens: 1024 } },
  'adaptive thinking with effort': {
    thinking: { type: 'adaptive', display: 'omitted' },
    output_config: { effort: 'xhigh', task_budget: { type: 'tokens', total: 20000 } },
  },
  'an answer in a schema': {
    output_config: { format: { type: 'json_schema', schema: { type: 'object', additionalProperties: false } } },
  },
  'the old spelling of a schema': { output_format: { type: 'json_schema', schema: { type: 'object' } } },
  sampling: { temperature: 0.5, top_k: 5, stop_sequences: ['END'] },
  'a marker for the whole prompt': { cache_control: { type: 'ephemeral', ttl: '5m' } },
  'a container with skills': {
    container: { id: 'c', skills: [{ type: 'anthropic', skill_id: 'pptx', version: 'latest' }] },
  },
  'MCP servers': {
    mcp_servers: [{ type: 'url', url: 'https://a.example', name: 's', authorization_token: 't' }],
    tools: [{ type: 'mcp_toolset', mcp_server_name: 's' }],
  },
  'context management': {
    context_management: { edits: [{ type: 'clear_tool_uses_20250919', trigger: { type: 'input_tokens', value: 1 } }] },
  },
  'who asks, and how urgently': {
    metadata: { user_id: 'u' },
    service_tier: 'standard_only',
    inference_geo: 'us',
    speed: 'fast',
    diagnostics: { previous_message_id: 'msg_0' },
  },
  'only a warm cache': { max_tokens: 0 },
  nulls: { temperature: null, system: null, tools: null, stream: null },
  'fields of tomorrow': {
    tomorrow: { deep: [1, { a: null }] },
    output_config: { mood: 'blue' },
    tool_choice: { type: 'weighted', weights: [1] },
    thinking: { type: 'dreaming' },
  },
  'blocks of tomorrow': user({ type: 'hologram', source: { type: 'beam', beam: 1 }, nested: [{ type: 'hologram' }] }),
  'a role of tomorrow': { messages: [hi, { role: 'critic', content: 'meh' }, hi] },
  'odd letters': { metadata: { user_id: '\u0000\u2028😀"\\' } },
};
