import { isObject } from '../../src/formats/json/object.ts';
import { anthropicEvents, json, sse, type Script, type SeenRequest } from '../support/upstream.ts';

/** Upstreams that call MCP servers, and that refuse what their vendors refuse (docs/protocols/anthropic-messages.md#mcp-servers). */

type Json = Readonly<Record<string, unknown>>;

const listIn = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

const BETA = 'mcp-client-2025-11-20';
const DEFINITION = new Set(['type', 'url', 'name', 'authorization_token']);
const TOOLSET = new Set(['type', 'mcp_server_name', 'default_config', 'configs', 'tools', 'cache_control']);

/** The message of Anthropic's 400; undefined for a request that it takes. */
function refusalOf({ headers, json: body }: SeenRequest): string | undefined {
  const servers = listIn(body['mcp_servers']);
  const toolsets = listIn(body['tools']).filter(({ type }) => type === 'mcp_toolset');
  const blocks = listIn(body['messages']).flatMap(({ content }) => listIn(content));
  const [uses, results] = ['mcp_tool_use', 'mcp_tool_result'].map((type) => blocks.filter((one) => one.type === type));
  const betas = String(headers['anthropic-beta'] ?? '').split(',');
  if ([...servers, ...toolsets, ...uses!].length > 0 && !betas.includes(BETA))
    return 'mcp_servers: Extra inputs are not permitted';
  const names = servers.map(({ name }) => name);
  for (const [at, server] of servers.entries()) {
    const extra = Object.keys(server).find((key) => !DEFINITION.has(key));
    if (extra !== undefined) return `mcp_servers.${at}.${extra}: Extra inputs are not permitted`;
    if (server.type !== 'url' || !String(server.url).startsWith('https://')) return `mcp_servers.${at}.url: invalid`;
    const referring = toolsets.filter(({ mcp_server_name: name }) => name === server.name).length;
    if (referring !== 1 || names.indexOf(server.name) !== at)
      return `MCP server '${String(server.name)}' is defined but not referenced by any \`mcp_toolset\` in \`tools\`.`;
  }
  for (const toolset of toolsets) {
    const extra = Object.keys(toolset).find((key) => !TOOLSET.has(key));
    if (extra !== undefined) return `tools: ${extra}: Extra inputs are not permitted`;
    if (!names.includes(toolset.mcp_server_name)) return 'tools: an `mcp_toolset` names no server of `mcp_servers`.';
  }
  const answered = new Set(results!.map(({ tool_use_id: id }) => id));
  return uses!.some(({ id }) => !answered.has(id) || !/^mcptoolu_\w+$/.test(String(id)))
    ? 'messages: `mcp_tool_use` without its result'
    : undefined;
}

const USE = { type: 'mcp_tool_use', id: 'mcptoolu_01A', name: 'read', server_name: 'docs' };
const RESULT = { type: 'mcp_tool_result', tool_use_id: 'mcptoolu_01A', is_error: false };
const CONTENT = [
  { type: 'text', text: 'Let me look.' },
  { ...USE, input: { page: 1 } },
  { ...RESULT, content: [{ type: 'text', text: 'Page one.' }] },
  { type: 'text', text: 'It says so.' },
];

function claudeEvents(): object[] {
  const [start, , , , ...end] = anthropicEvents('');
  const inputs = ['', '{"pa', 'ge":1}'].map((partial_json) => ({ type: 'input_json_delta', partial_json }));
  const blocks = CONTENT.flatMap((block, index) => {
    const opened =
      block.type === 'text' ? { type: 'text', text: '' } : block.type === USE.type ? { ...USE, input: {} } : block;
    const deltas = 'text' in block ? [{ type: 'text_delta', text: block.text }] : block.type === USE.type ? inputs : [];
    return [
      { type: 'content_block_start', index, content_block: opened },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ];
  });
  return [start!, ...blocks, ...end];
}

/** Claude, with a server `docs`. Without an offered server it answers in text. */
export const claudeWithServers: Script = async (request, res) => {
  const refusal = refusalOf(request);
  if (refusal !== undefined)
    return json(res, { type: 'error', error: { type: 'invalid_request_error', message: refusal } }, 400);
  if (request.json['stream'] === true) return sse(res, claudeEvents());
  const usage = { input_tokens: 3, output_tokens: 2 };
  return json(res, {
    id: 'msg_up',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: CONTENT,
    stop_reason: 'end_turn',
    usage,
  });
};

const LISTING = {
  id: 'mcpl_01',
  type: 'mcp_list_tools',
  server_label: 'docs',
  tools: [{ name: 'read', description: 'Reads.', input_schema: { type: 'object' }, annotations: null }],
};
const CALL = {
  id: 'mcp_01A',
  type: 'mcp_call',
  status: 'completed',
  approval_request_id: null,
  arguments: '{"page":1}',
  error: null,
  name: 'read',
  output: 'Page one.',
  server_label: 'docs',
};
const MESSAGE = {
  id: 'msg_01',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'It says so.', annotations: [], logprobs: [] }],
};
const response = (output: readonly object[], status: string) => ({
  id: 'resp_up',
  object: 'response',
  created_at: 1,
  model: 'gpt-5.4',
  status,
  output,
  usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
});

/** As OpenAI streams it (recorded): the list of the tools first, and calls before their results. */
function openaiEvents(): object[] {
  const at = (output_index: number, { id }: { id: string }) => ({ output_index, item_id: id });
  const events = [
    { type: 'created', response: response([], 'in_progress') },
    { type: 'output_item.added', output_index: 0, item: { ...LISTING, tools: [] } },
    { type: 'mcp_list_tools.in_progress', ...at(0, LISTING) },
    { type: 'mcp_list_tools.completed', ...at(0, LISTING) },
    { type: 'output_item.done', output_index: 0, item: LISTING },
    {
      type: 'output_item.added',
      output_index: 1,
      item: { ...CALL, status: 'in_progress', arguments: '', output: null },
    },
    { type: 'mcp_call.in_progress', ...at(1, CALL) },
    { type: 'mcp_call_arguments.delta', ...at(1, CALL), delta: CALL.arguments },
    { type: 'mcp_call_arguments.done', ...at(1, CALL), arguments: CALL.arguments },
    { type: 'mcp_call.completed', ...at(1, CALL) },
    { type: 'output_item.done', output_index: 1, item: CALL },
    { type: 'output_item.added', output_index: 2, item: { ...MESSAGE, content: [] } },
    { type: 'output_text.delta', ...at(2, MESSAGE), content_index: 0, delta: 'It says so.' },
    { type: 'output_item.done', output_index: 2, item: MESSAGE },
    { type: 'completed', response: response([LISTING, CALL, MESSAGE], 'completed') },
  ];
  return events.map((event, sequence_number) => ({ ...event, type: `response.${event.type}`, sequence_number }));
}

/** A server of OpenAI's Responses API, which asks for an approval unless the request says `never`. */
export const openaiWithServers: Script = ({ json: body }, res) => {
  const tools = listIn(body['tools']).filter(({ type }) => type === 'mcp');
  const asks = tools.find(({ require_approval: approval }) => approval !== 'never');
  if (asks)
    return json(res, { error: { message: 'this test grants no approvals', type: 'invalid_request_error' } }, 400);
  if (body['stream'] === true) return sse(res, openaiEvents());
  return json(res, response([LISTING, CALL, MESSAGE], 'completed'));
};
