import { writeEnvelope, writeSummary } from '../../src/formats/envelope.ts';
import { members, repeat, text, type Json } from './repeat.ts';
import { SCHEMAS } from './schema-shapes.ts';

const USER = { role: 'user', content: 'x' };
const ask = (input: unknown, more: object = {}): Json => ({ model: 'm', input, ...more });
const call = (at: number, more: object = {}) => ({
  type: 'function_call',
  call_id: `c${at}`,
  name: 'f',
  arguments: '{}',
  ...more,
});
const output = (at: number, content: unknown = 'r') => ({
  type: 'function_call_output',
  call_id: `c${at}`,
  output: content,
});
const tool = (at: number, more: object = {}) => ({ type: 'function', name: `f${at}`, parameters: {}, ...more });
const enveloped = (at: number) => ({
  type: 'reasoning',
  summary: [],
  encrypted_content: writeEnvelope({ kind: 'thinking', maker: 'claude', signature: `${at}`, text: 't' }),
});
const words = { type: 'input_text', text: 'x' };
const server = (at: number) => ({
  type: 'mcp',
  server_label: `s${at}`,
  server_url: 'https://mcp.example',
  require_approval: 'never',
});
const served = (at: number) => ({ type: 'mcp_call', id: `mcp_${at}`, server_label: 's0', name: 'f', output: 'r' });
const signature = (of: 'text' | 'picture') => ({
  type: 'reasoning',
  summary: [],
  encrypted_content: writeEnvelope({ kind: 'signature', maker: 'gemini', signature: 's', of }),
});
const said = (content: unknown) => ({ type: 'message', role: 'assistant', content });
const ran = (more: object) => ({ type: 'code_interpreter_call', code: '1', ...more });
/** Calls and outputs in turn, and items of tools that have run: one of each in a row of eight. */
const EVERY_KIND: readonly ((at: number) => unknown)[] = [
  (at) => ({ type: 'custom_tool_call', call_id: `c${at}`, name: 'f', input: 'x' }),
  (at) => ({ ...output(at - 1), type: 'custom_tool_call_output' }),
  (at) => ({ type: 'shell_call', call_id: `c${at}`, action: {} }),
  (at) => ({ ...output(at - 1), type: 'shell_call_output' }),
  (at) => ({ type: 'tool_search_call', call_id: `c${at}`, execution: 'client', arguments: {} }),
  (at) => ({ type: 'tool_search_output', call_id: `c${at - 1}`, execution: 'client', tools: [tool(at)] }),
  () => ({ type: 'image_generation_call', id: 'ig', result: 'AAAA' }),
  () => ran({ outputs: [{ type: 'logs', logs: 'x' }] }),
];
const ofEveryKind = (at: number): unknown => EVERY_KIND[at % EVERY_KIND.length]!(at);

/** Bodies of POST /v1/responses. */
export const RESPONSES_SHAPES: Readonly<Record<string, (bytes: number) => Json>> = {
  'top-level keys': (bytes) =>
    ask(
      'x',
      members(bytes, (at) => [`k${at}`, 1]),
    ),
  'one long key': (bytes) => ask('x', { [text(bytes, 'a.[')]: 1 }),
  'one long input': (bytes) => ask(text(bytes)),
  messages: (bytes) => ask(repeat(bytes, () => USER)),
  'messages of parts': (bytes) => ask([{ role: 'user', content: repeat(bytes, () => words) }]),
  'system and user in turn': (bytes) =>
    ask(repeat(bytes, (at) => (at % 2 === 0 ? { role: 'developer', content: 'x' } : USER))),
  'messages of the assistant': (bytes) => ask([USER, ...repeat(bytes, () => ({ role: 'assistant', content: 'x' }))]),
  'unknown fields of messages': (bytes) => ask(repeat(bytes, (at) => ({ ...USER, [`x${at}`]: 1 }))),
  'unknown items': (bytes) => ask([USER, ...repeat(bytes, (at) => ({ type: `t${at}` }))]),
  'references to reasoning': (bytes) =>
    ask([USER, ...repeat(bytes, (at) => ({ type: 'item_reference', id: `rs_${at}` }))]),
  'unknown parts': (bytes) => ask([{ role: 'user', content: repeat(bytes, (at) => ({ type: `t${at}` })) }]),
  'calls and outputs in turn': (bytes) => ask(repeat(bytes, (at) => (at % 2 === 0 ? call(at) : output(at - 1)))),
  'calls, then their outputs': (bytes) => {
    const calls = repeat(bytes / 2, (at) => call(at));
    return ask([...calls, ...calls.map((_, at) => output(at))]);
  },
  'calls, then their outputs in reverse order': (bytes) => {
    const calls = repeat(bytes / 2, (at) => call(at));
    return ask([...calls, ...calls.map((_, at) => output(calls.length - 1 - at))]);
  },
  'calls without outputs': (bytes) => ask([...repeat(bytes, (at) => call(at)), USER]),
  'one output again and again': (bytes) => ask([call(0), ...repeat(bytes, () => output(0))]),
  'an output of parts': (bytes) =>
    ask([
      call(0),
      output(
        0,
        repeat(bytes, () => words),
      ),
    ]),
  'signed calls': (bytes) =>
    ask(
      repeat(bytes, (at) =>
        at % 2 === 0
          ? {
              type: 'reasoning',
              summary: [],
              encrypted_content: writeEnvelope({ kind: 'signature', maker: 'gemini', signature: 's', of: 'call' }),
            }
          : call(at),
      ),
    ),
  'reasoning in envelopes': (bytes) => ask([USER, ...repeat(bytes, enveloped)]),
  'reasoning of OpenAI': (bytes) =>
    ask([USER, ...repeat(bytes, () => ({ type: 'reasoning', summary: [], encrypted_content: 'gAAAA' }))]),
  'summaries of many parts': (bytes) =>
    ask([USER, { type: 'reasoning', summary: repeat(bytes, () => ({ type: 'summary_text', text: 'x' })) }]),
  tools: (bytes) => ask('x', { tools: repeat(bytes, (at) => tool(at)) }),
  'unknown tools': (bytes) => ask('x', { tools: repeat(bytes, (at) => ({ type: `t${at}` })) }),
  'unknown fields of tools': (bytes) => ask('x', { tools: repeat(bytes, (at) => tool(at, { [`x${at}`]: 1 })) }),
  namespaces: (bytes) =>
    ask('x', { tools: repeat(bytes, (at) => ({ type: 'namespace', name: `n${at}`, tools: [tool(at)] })) }),
  'one namespace of many tools': (bytes) =>
    ask('x', { tools: [{ type: 'namespace', name: 'n', tools: repeat(bytes, (at) => tool(at)) }] }),
  'calls in namespaces without tools': (bytes) =>
    ask(repeat(bytes, (at) => (at % 2 === 0 ? call(at, { namespace: `n${at}` }) : output(at - 1)))),
  'additional tools': (bytes) =>
    ask([...repeat(bytes, (at) => ({ type: 'additional_tools', role: 'developer', tools: [tool(at)] })), USER]),
  'MCP servers': (bytes) => ask('x', { tools: repeat(bytes, server) }),
  'one MCP server with many tools': (bytes) =>
    ask('x', { tools: [{ ...server(0), allowed_tools: repeat(bytes, (at) => `t${at}`) }] }),
  'calls of an MCP server': (bytes) => ask([USER, ...repeat(bytes, served), USER], { tools: [server(0)] }),
  'calls of MCP servers that are not offered': (bytes) => ask([USER, ...repeat(bytes, served), USER]),
  'allowed MCP servers': (bytes) => {
    const tools = repeat(bytes / 2, server);
    const listed = tools.map((_, at) => ({ type: 'mcp', server_label: `s${at}` }));
    return ask('x', { tools, tool_choice: { type: 'allowed_tools', mode: 'auto', tools: listed } });
  },
  'allowed tools': (bytes) =>
    ask('x', {
      tools: [tool(0)],
      tool_choice: {
        type: 'allowed_tools',
        mode: 'auto',
        tools: repeat(bytes, (at) => ({ type: 'function', name: `f${at}` })),
      },
    }),
  ...Object.fromEntries(
    Object.entries(SCHEMAS).map(([name, schema]) => [
      `a schema: ${name}`,
      (bytes: number) => ask('x', { text: { format: { type: 'json_schema', name: 'n', schema: schema(bytes) } } }),
    ]),
  ),
};

/** The same with items and tools beside messages and functions: counts and compactions read them as a turn does. */
export const ITEM_SHAPES: Readonly<Record<string, (bytes: number) => Json>> = {
  'texts and their signatures in turn': (bytes) =>
    ask([USER, ...repeat(bytes, (at) => (at % 2 === 0 ? said('x') : signature('text')))]),
  'calls of every kind, with their outputs': (bytes) => ask([USER, ...repeat(bytes, ofEveryKind)]),
  'outputs of a shell between calls': (bytes) =>
    ask([call(0), ...repeat(bytes, (at) => ({ ...output(at), type: 'shell_call_output' })), output(0)]),
  'one run with many outputs': (bytes) =>
    ask([
      USER,
      ran({ outputs: repeat(bytes, (at) => (at % 2 === 0 ? { type: 'logs', logs: 'x' } : { type: 'image' })) }),
    ]),
  'pictures and files': (bytes) =>
    ask([
      {
        role: 'user',
        content: repeat(bytes, (at) =>
          at % 2 === 0
            ? { type: 'input_image', image_url: 'data:image/png;base64,AAAA' }
            : { type: 'input_file', filename: `f${at}.pdf`, file_data: 'AAAA' },
        ),
      },
    ]),
  'annotations of an answer': (bytes) =>
    ask([
      USER,
      said([
        {
          type: 'output_text',
          text: 'x',
          annotations: repeat(bytes, (at) => ({ type: 'url_citation', url: `u${at}` })),
        },
      ]),
    ]),
  'compactions and configurations in turn': (bytes) =>
    ask([
      ...repeat(bytes, (at) =>
        at % 2 === 0
          ? { type: 'compaction', encrypted_content: writeSummary(`${at}`) }
          : { type: 'configuration_update', reasoning: { effort: 'low' } },
      ),
      USER,
    ]),
  'tools of other kinds': (bytes) =>
    ask('x', {
      tools: repeat(bytes, (at) =>
        at % 2 === 0
          ? { type: 'mcp', server_label: `s${at}`, server_url: 'https://e.org' }
          : { type: 'custom', name: `f${at}`, format: { type: 'grammar', syntax: 'lark', definition: 'x' } },
      ),
    }),
  'metadata and what to include': (bytes) =>
    ask('x', { metadata: members(bytes / 2, (at) => [`k${at}`, 'v']), include: repeat(bytes / 2, (at) => `i${at}`) }),
};
