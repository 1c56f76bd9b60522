import { writeEnvelope } from '../../src/formats/envelope.ts';
import { collidingName } from './colliding-names.ts';
import { members, nest, repeat, text, type Json } from './repeat.ts';
import { SCHEMAS } from './schema-shapes.ts';

const ASK = { role: 'user', content: 'x' };
const ask = (more: object): Json => ({ model: 'm', max_tokens: 5, messages: [ASK], ...more });
const talk = (messages: readonly unknown[], more: object = {}): Json => ask({ messages, ...more });
const words = (said = 'x') => ({ type: 'text', text: said });
const use = (id: string, input: unknown = {}, name = 'f') => ({ type: 'tool_use', id, name, input });
const result = (id: string, content: unknown = 'r') => ({ type: 'tool_result', tool_use_id: id, content });
const says = (blocks: readonly unknown[]) => ({ role: 'assistant', content: blocks });
const replies = (blocks: readonly unknown[]) => ({ role: 'user', content: blocks });
const SIGNATURE = 'A'.repeat(400);
const googles = (at: number): string =>
  writeEnvelope({ kind: 'signature', maker: 'gemini', of: 'text', signature: `${at}` });
const CACHED = { cache_control: { type: 'ephemeral' } };

/** Bodies of POST /v1/messages, and of the count of their tokens. */
export const MESSAGES_SHAPES: Readonly<Record<string, (bytes: number) => Json>> = {
  'top-level keys': (bytes) => ask(members(bytes, (at) => [`k${at}`, 1])),
  'top-level keys of dots': (bytes) => ask(members(bytes, (at) => [`${'.'.repeat(40)}[${at}`, 1])),
  'one long key': (bytes) => ask({ [text(bytes, 'a.[')]: 1 }),
  messages: (bytes) => talk(repeat(bytes, () => ASK)),
  'system and user in turn': (bytes) =>
    talk(repeat(bytes, (at) => ({ role: at % 2 === 0 ? 'system' : 'user', content: 'x' }))),
  'user and assistant in turn': (bytes) =>
    talk(repeat(bytes, (at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content: 'x' }))),
  'unknown fields of messages': (bytes) => talk(repeat(bytes, (at) => ({ ...ASK, [`x${at}`]: 1 }))),
  'a long system prompt in blocks': (bytes) => ask({ system: repeat(bytes, () => ({ ...words(), ...CACHED })) }),
  'blocks of text': (bytes) => talk([replies(repeat(bytes, () => words()))]),
  'blocks with cache markers': (bytes) => talk([replies(repeat(bytes, () => ({ ...words(), ...CACHED })))]),
  'unknown blocks': (bytes) => talk([replies([words(), ...repeat(bytes, (at) => ({ type: `t${at}` }))])]),
  'unknown fields of blocks': (bytes) => talk([replies(repeat(bytes, (at) => ({ ...words(), [`x${at}`]: 1 })))]),
  'unknown fields of one block': (bytes) => talk([replies([{ ...words(), ...members(bytes, (at) => [`x${at}`, 1]) }])]),
  'unknown fields of one call': (bytes) =>
    talk([ASK, says([{ ...use('c'), ...members(bytes, (at) => [`x${at}`, 1]) }]), replies([result('c')])]),
  'calls and results in turn': (bytes) =>
    talk(repeat(bytes, (at) => (at % 2 === 0 ? says([use(`c${at}`)]) : replies([result(`c${at - 1}`)])))),
  'MCP servers': (bytes) => {
    const tools = repeat(bytes / 2, (at) => ({ type: 'mcp_toolset', mcp_server_name: `s${at}` }));
    const servers = tools.map((_, at) => ({ type: 'url', name: `s${at}`, url: 'https://mcp.example' }));
    return ask({ tools, mcp_servers: servers });
  },
  'one toolset of many tools': (bytes) =>
    ask({
      tools: [
        {
          type: 'mcp_toolset',
          mcp_server_name: 's',
          configs: members(bytes, (at) => [`t${at}`, { enabled: true }]),
          default_config: { enabled: false },
        },
      ],
      mcp_servers: [{ type: 'url', name: 's', url: 'https://mcp.example' }],
    }),
  'calls of MCP servers': (bytes) =>
    talk([
      ASK,
      says(
        repeat(bytes, (at) =>
          at % 2 === 0
            ? { type: 'mcp_tool_use', id: `mcptoolu_${at}`, name: 'f', server_name: 's', input: {} }
            : { type: 'mcp_tool_result', tool_use_id: `mcptoolu_${at - 1}`, content: [words()] },
        ),
      ),
      ASK,
    ]),
  'results in order': (bytes) => results(bytes, (ids) => ids),
  'results in reverse order': (bytes) => results(bytes, (ids) => ids.toReversed()),
  'results and words in turn': (bytes) =>
    talk([ASK, replies(repeat(bytes, (at) => (at % 2 === 0 ? result(`c${at}`) : words())))]),
  'one call id for all': (bytes) =>
    talk([ASK, says(repeat(bytes / 2, () => use('c'))), replies(repeat(bytes / 2, () => result('c')))]),
  'signed call ids': (bytes) => talk([ASK, says(repeat(bytes, (at) => use(`c${at}__thought__${SIGNATURE}`)))]),
  'results of pictures': (bytes) => {
    const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } };
    return talk([
      ASK,
      says([use('c')]),
      replies([
        result(
          'c',
          repeat(bytes, () => picture),
        ),
      ]),
    ]);
  },
  'results of text blocks': (bytes) =>
    talk([
      ASK,
      says([use('c')]),
      replies([
        result(
          'c',
          repeat(bytes, () => ({ ...words(), ...CACHED })),
        ),
      ]),
    ]),
  'results within results': (bytes) =>
    talk([ASK, says([use('c')]), replies(repeat(bytes, () => nest(12, (inner) => result('c', [inner]), words())))]),
  'failed results': (bytes) => talk([ASK, replies(repeat(bytes, (at) => ({ ...result(`c${at}`), is_error: true })))]),
  'large inputs': (bytes) =>
    talk([
      ASK,
      says([
        use(
          'c',
          members(bytes, (at) => [`k${at}`, at]),
        ),
      ]),
    ]),
  'nested inputs': (bytes) =>
    talk([
      ASK,
      says(
        repeat(bytes, (at) =>
          use(
            `c${at}`,
            nest(50, (inner) => ({ a: inner }), 1),
          ),
        ),
      ),
    ]),
  'open actions of computer use': (bytes) =>
    talk(
      [ASK, says(repeat(bytes / 2, (at) => use(`c${at}`, {}, 'click_at'))), replies(repeat(bytes / 2, () => words()))],
      { tools: [{ name: 'computer_use', input_schema: {} }] },
    ),
  'answered actions of computer use': (bytes) => ({
    ...results(bytes, (ids) => ids.toReversed()),
    tools: [{ name: 'computer_use', input_schema: {} }],
  }),
  thoughts: (bytes) =>
    talk([ASK, says(repeat(bytes, (at) => ({ type: 'thinking', thinking: `t${at}`, signature: SIGNATURE })))]),
  'unsigned thoughts': (bytes) =>
    talk([ASK, says(repeat(bytes, (at) => ({ type: 'thinking', thinking: `t${at}`, signature: '' })))]),
  'thoughts of others': (bytes) =>
    talk([ASK, says(repeat(bytes, (at) => ({ type: 'thinking', thinking: `t${at}`, signature: googles(at) })))]),
  'hidden thoughts': (bytes) =>
    talk([ASK, says(repeat(bytes, (at) => ({ type: 'redacted_thinking', data: `d${at}` })))]),
  'texts with citations': (bytes) =>
    talk([
      ASK,
      says(repeat(bytes, () => ({ ...words(), citations: [{ type: 'char_location', encrypted_index: 'e' }] }))),
    ]),
  'results of server tools': (bytes) =>
    talk([
      ASK,
      says(
        repeat(bytes, (at) => ({
          type: 'web_search_tool_result',
          tool_use_id: `s${at}`,
          content: [{ type: 'web_search_result', url: 'u', encrypted_content: 'e' }],
        })),
      ),
    ]),
  'search results': (bytes) =>
    talk([replies(repeat(bytes, () => ({ type: 'search_result', title: 't', source: 's', content: [words()] })))]),
  'documents of blocks': (bytes) =>
    talk([
      replies(repeat(bytes, () => ({ type: 'document', source: { type: 'content', content: [words()] }, title: 't' }))),
    ]),
  'documents by address': (bytes) =>
    talk([
      replies(
        repeat(bytes, (at) => ({ type: 'document', source: { type: 'url', url: `https://a.example/${at}.pdf` } })),
      ),
    ]),
  'one long text of escapes': (bytes) => talk([{ role: 'user', content: '\\"\n\u0001'.repeat(bytes / 12) }]),
  'one long text of white space': (bytes) => talk([{ role: 'user', content: ' '.repeat(bytes) }, says([words('x  ')])]),
  tools: (bytes) => ask({ tools: repeat(bytes, (at) => ({ name: `f${at}`, input_schema: {} })) }),
  'tools whose long names have one digest': (bytes) =>
    ask({ tools: repeat(bytes, (at) => ({ name: collidingName(at), input_schema: {} })) }),
  'tools of one name': (bytes) => ask({ tools: repeat(bytes, () => ({ name: 'f', input_schema: {} })) }),
  'tools with unknown fields': (bytes) =>
    ask({ tools: repeat(bytes, (at) => ({ name: `f${at}`, input_schema: {}, [`x${at}`]: 1 })) }),
  'one tool with unknown fields': (bytes) =>
    ask({ tools: [{ name: 'f', input_schema: {}, ...members(bytes, (at) => [`x${at}`, 1]) }] }),
  'tools of the provider': (bytes) =>
    ask({
      tools: repeat(bytes, (at) => ({ type: 'web_search_20250305', name: `w${at}`, max_uses: 1, [`x${at}`]: 1 })),
    }),
  'unknown tools of the provider': (bytes) =>
    ask({ tools: repeat(bytes, (at) => ({ type: `t${at}`, name: `w${at}` })) }),
  'stop sequences': (bytes) => ask({ stop_sequences: repeat(bytes, (at) => `s${at}`) }),
  metadata: (bytes) => ask({ metadata: { user_id: 'u', ...members(bytes, (at) => [`k${at}`, 1]) } }),
  'output configuration': (bytes) =>
    ask({ output_config: { effort: 'low', ...members(bytes, (at) => [`k${at}`, 1]) } }),
  betas: (bytes) => ask({ anthropic_beta: repeat(bytes, (at) => `b${at}`) }),
  numbers: (bytes) => ask({ x: repeat(bytes, (at) => at + 0.5) }),
  'nested lists': (bytes) => ask({ x: repeat(bytes, () => nest(55, (inner) => [inner], 1)) }),
  'a last message that is wrong': (bytes) => talk([...repeat(bytes, () => ASK), { role: 'nobody', content: 'x' }]),
  'a last tool that is wrong': (bytes) =>
    ask({
      tools: [
        ...repeat(bytes, (at) => ({ name: `f${at}`, input_schema: {} })),
        { type: 'bash_20250124', name: 'bash' },
      ],
    }),
  ...Object.fromEntries(
    Object.entries(SCHEMAS).map(([name, schema]) => [
      `a tool and an answer with ${name}`,
      (bytes: number) =>
        ask({
          tools: [{ name: 'f', input_schema: schema(bytes / 2) }],
          output_config: { format: { type: 'json_schema', schema: schema(bytes / 2) } },
        }),
    ]),
  ),
};

/** Calls of one turn, and the results of all of them. */
function results(bytes: number, order: (ids: readonly string[]) => readonly string[]): Json {
  const ids = repeat(bytes / 4, (at) => `c${at}`.padEnd(24, '_'));
  return talk([ASK, says(ids.map((id) => use(id))), replies(order(ids).map((id) => result(id)))]);
}
