import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FormatName, JsonObject } from './conversation.ts';
import { RequestFault } from './faults.ts';
import { formats } from './index.ts';
import { isObject, objectOf, listOf } from './json/object.ts';
import { asSent } from './as-sent.testkit.ts';
import { clientContext, deepFreeze, replyContext, requestTarget, replyWith } from './contexts.testkit.ts';
import { generation, seed, toEvents } from './generations.testkit.ts';
import { finish } from './steps.ts';
import { translateRequest } from './translate.ts';
import { runs } from '../../test/support/effort.ts';

/** MCP servers between the Responses API and the Messages API (docs/protocols/openai-responses.md#mcp-servers). */

const MODELS: Readonly<Record<FormatName, string>> = {
  'openai-chat': 'gpt-5',
  'openai-responses': 'gpt-5.4',
  'anthropic-messages': 'claude-sonnet-4-5',
  gemini: 'gemini-3-pro-preview',
};

interface Path {
  readonly client: FormatName;
  readonly upstream: FormatName;
  readonly host?: 'vertex';
}
const TO_CLAUDE: Path = { client: 'openai-responses', upstream: 'anthropic-messages' };
const TO_OPENAI: Path = { client: 'anthropic-messages', upstream: 'openai-responses' };

function translate({ client, upstream, host = 'direct' }: Omit<Path, 'host'> & { host?: string }, body: JsonObject) {
  const encoded = finish(
    translateRequest(deepFreeze({ model: 'm', ...body }), {
      client: formats[client],
      upstream: formats[upstream],
      target: requestTarget({ model: MODELS[upstream], strict: false, host: host === 'vertex' ? 'vertex' : 'direct' }),
      reply: replyContext(),
    }),
  );
  return {
    body: asSent(encoded.body),
    betas: encoded.headers?.['anthropic-beta'],
    losses: encoded.losses.map(({ action, param }) => `${action} ${param}`),
  };
}

const ask = (tool: JsonObject, more: JsonObject = {}) => ({
  input: 'Hi',
  max_output_tokens: 100,
  tools: [
    { type: 'mcp', server_label: 'docs', server_url: 'https://mcp.example/', require_approval: 'never', ...tool },
  ],
  ...more,
});
const messages = [{ role: 'user', content: 'Hi' }];
const definition = { type: 'url', name: 'docs', url: 'https://mcp.example/' };
const toolset = { type: 'mcp_toolset', mcp_server_name: 'docs' };
const own = (changes: { server?: JsonObject; toolset?: JsonObject } = {}) => ({
  max_tokens: 100,
  messages,
  mcp_servers: [{ ...definition, ...changes.server }],
  tools: [{ ...toolset, ...changes.toolset }],
});

function faultOf(work: () => unknown): { code: string; param: string | null } {
  try {
    work();
  } catch (error) {
    if (error instanceof RequestFault) return { code: error.code, param: error.param };
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('a tool `mcp` for Claude', () => {
  it.each<[string, JsonObject, JsonObject, JsonObject, readonly string[]]>([
    ['all tools of a server', {}, {}, {}, []],
    ['a token', { authorization: 'secret' }, { authorization_token: 'secret' }, {}, []],
    ['a token in a header', { headers: { authorization: 'Bearer secret' } }, { authorization_token: 'secret' }, {}, []],
    [
      'some tools',
      { allowed_tools: ['a', 'b'] },
      {},
      { default_config: { enabled: false }, configs: { a: { enabled: true }, b: { enabled: true } } },
      [],
    ],
    [
      'some tools in a filter',
      { allowed_tools: { tool_names: ['a'] } },
      {},
      { default_config: { enabled: false }, configs: { a: { enabled: true } } },
      [],
    ],
    ['no tools', { allowed_tools: [] }, {}, { default_config: { enabled: false } }, []],
    ['words for the model', { server_description: 'Docs.' }, {}, {}, ['dropped tools[0].server_description']],
    ['tools on demand', { defer_loading: true }, {}, {}, ['downgraded tools[0].defer_loading']],
    ['calls of the model alone', { allowed_callers: ['direct'] }, {}, {}, []],
    ['calls of programs', { allowed_callers: ['programmatic'] }, {}, {}, ['dropped tools[0].allowed_callers']],
    ['nulls', { headers: null, allowed_tools: null, connector_id: null }, {}, {}, []],
  ])('asks for %s', (_, tool, server, set, losses) => {
    const sent = translate(TO_CLAUDE, ask(tool));
    expect(sent.body).toMatchObject({
      mcp_servers: [{ ...definition, ...server }],
      tools: [{ ...toolset, ...set }],
    });
    expect(Object.keys(objectOf(listOf(sent.body.mcp_servers)?.[0]) ?? {})).toHaveLength(
      3 + Object.keys(server).length,
    );
    expect(sent).toMatchObject({ betas: 'mcp-client-2025-11-20', losses });
  });

  it.each<[string, JsonObject, string]>([
    ['each call may need an approval', { require_approval: undefined }, 'require_approval'],
    ['each call needs an approval', { require_approval: 'always' }, 'require_approval'],
    ['some calls need an approval', { require_approval: { never: { tool_names: ['a'] } } }, 'require_approval'],
    ['OpenAI’s connector is the server', { connector_id: 'connector_gmail' }, 'connector_id'],
    ['a tunnel leads to the server', { tunnel_id: 't' }, 'tunnel_id'],
    ['the server gets headers', { headers: { 'x-tenant': 'a' } }, 'headers'],
    [
      'the server gets a header beside a token',
      { authorization: 's', headers: { authorization: 'Bearer s' } },
      'headers',
    ],
    ['only reading tools are allowed', { allowed_tools: { read_only: true } }, 'allowed_tools.read_only'],
  ])('is refused if %s', (_, tool, field) => {
    expect(faultOf(() => translate(TO_CLAUDE, ask(tool)))).toEqual({
      code: 'unsupported_parameter',
      param: `tools[0].${field}`,
    });
  });

  it('is refused without a server, and if two have one label', () => {
    expect(faultOf(() => translate(TO_CLAUDE, ask({ server_url: undefined })))).toEqual({
      code: 'missing_required_parameter',
      param: 'tools[0].server_url',
    });
    const { tools } = ask({});
    expect(faultOf(() => translate(TO_CLAUDE, ask({}, { tools: [...tools, ...tools] })))).toEqual({
      code: 'invalid_value',
      param: 'tools[1]',
    });
  });

  it.each<[string, Path]>([
    ['Claude on Vertex AI', { ...TO_CLAUDE, host: 'vertex' }],
    ['Gemini', { client: 'openai-responses', upstream: 'gemini' }],
    ['a server of the chat API', { client: 'openai-responses', upstream: 'openai-chat' }],
  ])('is a loss at %s, with whatever approvals', (_, path) => {
    for (const tool of [{}, { require_approval: 'always' }, { connector_id: 'connector_gmail' }]) {
      const { body, betas, losses } = translate(path, ask(tool));
      expect([body.tools, body.mcp_servers, betas]).toEqual([undefined, undefined, undefined]);
      expect(losses).toEqual(['dropped tools[0]']);
    }
  });
});

describe('a request of the chat API', () => {
  it.each<FormatName>(['anthropic-messages', 'gemini', 'openai-responses'])(
    'has no MCP servers for %s: what servers of that API call so is lost',
    (upstream) => {
      const f = { type: 'function', function: { name: 'f' } };
      const sent = translate(
        { client: 'openai-chat', upstream },
        { messages, max_tokens: 100, tools: [f, ...ask({}).tools], mcp_servers: [definition] },
      );
      expect(sent.losses.toSorted()).toEqual(['dropped mcp_servers', 'dropped tools[1]']);
      expect(listOf(sent.body.tools)).toHaveLength(1);
    },
  );
});

describe('a choice of MCP tools at Claude', () => {
  const f = { type: 'function', name: 'f' };
  const chosen = (tool_choice: JsonObject) => {
    const [docs] = ask({}).tools;
    const mail = { ...docs!, server_label: 'mail' };
    return translate(TO_CLAUDE, ask({}, { tools: [f, docs, mail], tool_choice }));
  };
  const docs = { type: 'mcp', server_label: 'docs' };
  const labels = ({ body }: ReturnType<typeof chosen>) =>
    (listOf(body.mcp_servers) ?? []).map((one) => objectOf(one)?.name);

  it('forces a server by offering no other tool', () => {
    const sent = chosen(docs);
    expect(sent.body).toMatchObject({ tools: [toolset], tool_choice: { type: 'any' } });
    expect([labels(sent), sent.losses]).toEqual([['docs'], []]);
  });

  it('forces one tool of a server', () => {
    const sent = chosen({ ...docs, name: 'a' });
    expect(sent.body).toMatchObject({
      tools: [{ ...toolset, default_config: { enabled: false }, configs: { a: { enabled: true } } }],
      tool_choice: { type: 'any' },
    });
    expect(sent.losses).toEqual([]);
  });

  it('sends only the definitions of allowed servers', () => {
    const sent = chosen({ type: 'allowed_tools', mode: 'auto', tools: [f, docs] });
    expect(sent.body).toMatchObject({ tools: [{ name: 'f' }, toolset], tool_choice: { type: 'auto' } });
    expect([labels(sent), sent.losses]).toEqual([['docs'], []]);
  });

  it('keeps all servers beside a forced function', () => {
    const sent = chosen({ type: 'function', name: 'f' });
    expect(sent.body.tool_choice).toEqual({ type: 'tool', name: 'f' });
    expect(labels(sent)).toEqual(['docs', 'mail']);
  });
});

describe('`mcp_servers` for OpenAI’s Responses API', () => {
  it.each<[string, Parameters<typeof own>[0], JsonObject, readonly string[]]>([
    ['all tools of a server', {}, {}, []],
    ['a token', { server: { authorization_token: 'secret' } }, { authorization: 'secret' }, []],
    [
      'some tools',
      {
        toolset: {
          default_config: { enabled: false },
          configs: { a: { enabled: true }, b: {}, c: { enabled: false } },
        },
      },
      { allowed_tools: ['a'] },
      [],
    ],
    [
      'a pinned list',
      {
        toolset: {
          tools: [
            { name: 'a', input_schema: {} },
            { name: 'b', input_schema: {} },
          ],
          configs: { b: { enabled: false } },
        },
      },
      { allowed_tools: ['a'] },
      ['downgraded tools[0].tools'],
    ],
    ['a marker', { toolset: { cache_control: { type: 'ephemeral' } } }, {}, ['dropped tools[0].cache_control']],
    [
      'tools on demand',
      { toolset: { default_config: { defer_loading: true } } },
      {},
      ['downgraded tools[0].default_config.defer_loading'],
    ],
  ])('asks for %s', (_, changes, tool, losses) => {
    const sent = translate(TO_OPENAI, own(changes));
    expect(sent.body.tools).toEqual([
      { type: 'mcp', server_label: 'docs', server_url: definition.url, require_approval: 'never', ...tool },
    ]);
    expect(sent).toMatchObject({ losses });
    expect(sent.body).not.toHaveProperty('mcp_servers');
  });

  it('is refused if all tools but some may be called', () => {
    const body = own({ toolset: { configs: { rm: { enabled: false } } } });
    expect(faultOf(() => translate(TO_OPENAI, body))).toEqual({
      code: 'unsupported_parameter',
      param: 'tools[0].configs',
    });
  });

  it('has the tools of a server without a toolset, as the beta before had them', () => {
    const server = { ...definition, tool_configuration: { allowed_tools: ['a'] } };
    const sent = translate(TO_OPENAI, { max_tokens: 100, messages, mcp_servers: [server] });
    expect(sent.body.tools).toMatchObject([{ type: 'mcp', server_label: 'docs', allowed_tools: ['a'] }]);
    expect(sent.losses).toEqual([]);
  });

  it.each<[string, JsonObject, readonly string[]]>([
    [
      'without an address',
      { mcp_servers: [{ type: 'stdio', name: 'docs' }], tools: [toolset] },
      ['dropped mcp_servers', 'dropped tools[0]'],
    ],
    ['without a definition', { tools: [toolset] }, ['dropped tools[0]']],
    ['of a name that is taken', { mcp_servers: [definition, definition] }, ['dropped mcp_servers']],
  ])('reports a server %s', (_, body, losses) => {
    expect(translate(TO_OPENAI, { max_tokens: 100, messages, ...body }).losses.toSorted()).toEqual(losses);
  });

  it.each<FormatName>(['gemini', 'openai-chat'])('is a loss at %s', (upstream) => {
    const sent = translate({ client: 'anthropic-messages', upstream }, own());
    expect(sent.body.tools).toBeUndefined();
    expect(sent.losses).toEqual(['dropped tools[0]']);
    const lone = { max_tokens: 100, messages, mcp_servers: [definition] };
    expect(translate({ client: 'anthropic-messages', upstream }, lone).losses).toEqual(['dropped mcp_servers[0]']);
  });
});

const call = {
  type: 'mcp_call',
  id: 'mcp_1',
  server_label: 'docs',
  name: 'read',
  arguments: '{"page":1}',
  output: 'Text.',
  error: null,
  status: 'completed',
};
const use = { type: 'mcp_tool_use', id: 'mcptoolu_1', name: 'read', server_name: 'docs', input: { page: 1 } };
const result = {
  type: 'mcp_tool_result',
  tool_use_id: 'mcptoolu_1',
  is_error: false,
  content: [{ type: 'text', text: 'Text.' }],
};
const TEXT = '[Call of the tool read of the MCP server docs: {"page":1}]';

describe('a call of an MCP server in the next request', () => {
  const input = [
    { role: 'user', content: 'Hi' },
    call,
    { role: 'assistant', content: 'Ok.' },
    { role: 'user', content: 'Go on' },
  ];

  it('is two blocks at Claude', () => {
    const { body, losses } = translate(TO_CLAUDE, ask({}, { input }));
    expect(objectOf(listOf(body.messages)?.[1])?.content).toEqual([use, result, { type: 'text', text: 'Ok.' }]);
    expect(losses).toEqual([]);
  });

  it.each<[string, JsonObject, JsonObject]>([
    [
      'a failed call',
      { output: null, error: 'No.', status: 'failed' },
      { is_error: true, content: [{ type: 'text', text: 'No.' }] },
    ],
    [
      'a failed call as OpenAI reports it',
      { output: null, error: { type: 'http_error', code: 500, message: 'No.' }, status: 'failed' },
      { is_error: true, content: [{ type: 'text', text: 'No.' }] },
    ],
    [
      'a call that a client returns without its output',
      { output: null, status: undefined },
      { is_error: false, content: [] },
    ],
  ])('has the error of %s', (_, changes, expected) => {
    const { body } = translate(TO_CLAUDE, ask({}, { input: [input[0], { ...call, ...changes }, ...input.slice(2)] }));
    expect(listOf(objectOf(listOf(body.messages)?.[1])?.content)?.[1]).toEqual({ ...result, ...expected });
  });

  it('is text where the target does not get the server', () => {
    for (const more of [
      { tools: [] },
      { tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] } },
    ]) {
      const tools = [{ type: 'function', name: 'f' }, ...ask({}).tools];
      const sent = translate(TO_CLAUDE, ask({}, { input, tools, ...more }));
      expect(JSON.stringify(sent.body.messages)).toContain(JSON.stringify(TEXT).slice(1, -1));
      expect(sent.losses.slice(0, 2)).toEqual(['downgraded input[1]']);
      expect(sent.body.messages).not.toContain('mcp_tool_use');
    }
  });

  it.each<[string, Path, JsonObject, string]>([
    ['Gemini', { client: 'openai-responses', upstream: 'gemini' }, { input }, 'input[1]'],
    ['a server of the chat API', { client: 'openai-responses', upstream: 'openai-chat' }, { input }, 'input[1]'],
    ['Claude on Vertex AI', { ...TO_CLAUDE, host: 'vertex' }, { input, max_output_tokens: 9 }, 'input[1]'],
    [
      'Gemini, from a Messages client',
      { client: 'anthropic-messages', upstream: 'gemini' },
      { messages: [...messages, { role: 'assistant', content: [use, result] }, ...messages] },
      'messages[1].content[0]',
    ],
  ])('is text at %s', (_, path, body, place) => {
    const sent = translate(path, body);
    expect(JSON.stringify(sent.body)).toContain(JSON.stringify(TEXT).slice(1, -1));
    expect(JSON.stringify(sent.body)).toContain('[Result of the MCP server:]\\nText.');
    expect(sent.losses).toContain(`downgraded ${place}`);
  });

  it('is one item at OpenAI, with its own id', () => {
    const body = own();
    const turns = [
      ...messages,
      { role: 'assistant', content: [use, result, { type: 'text', text: 'Ok.' }] },
      ...messages,
    ];
    const sent = translate(TO_OPENAI, { ...body, messages: turns });
    expect(listOf(sent.body.input)?.[1]).toEqual({ ...call, approval_request_id: null });
    expect(sent.losses).toEqual([]);
  });

  it('needs no list of the server’s tools: the target has or asks for it', () => {
    const listing = {
      type: 'mcp_list_tools',
      id: 'mcpl_1',
      server_label: 'docs',
      tools: [{ name: 'read', input_schema: {} }],
    };
    expect(translate(TO_CLAUDE, ask({}, { input: [listing, ...input] })).losses).toEqual([]);
    expect(
      translate({ client: 'openai-responses', upstream: 'gemini' }, { input: [listing, ...input] }).losses,
    ).toContain('dropped input[0]');
    const block = { type: 'mcp_tool_listing', mcp_server_name: 'docs', tools: [] };
    const turns = [...messages, { role: 'assistant', content: [block, use, result] }, ...messages];
    expect(translate(TO_OPENAI, { ...own(), messages: turns }).losses).toEqual([]);
  });
});

const client = clientContext({ id: 'resp_0123456789abcdef0123456789abcdef', ownId: true, strict: false });

describe('a conversation with MCP servers', () => {
  it('goes on at Claude with what it said, through a client of the Responses API', () => {
    fc.assert(
      fc.property(generation({ mcp: true }), seed, (reply, cuts) => {
        const claude = replyWith(formats['anthropic-messages'], toEvents(reply), client);
        const { output } = replyWith(formats['openai-responses'], toEvents(reply, cuts), client);
        const items = (listOf(output) ?? []).filter(isObject);
        const results = items.flatMap(({ type, call_id }) =>
          type === 'function_call' ? [{ type: 'function_call_output', call_id, output: 'ok' }] : [],
        );
        const user = { role: 'user', content: 'Hi' };
        const { body } = translate(TO_CLAUDE, ask({}, { input: [user, ...items, ...results, user] }));
        const sent = (listOf(body.messages) ?? []).filter(isObject).flatMap(({ content }) => listOf(content) ?? []);
        expect(mcpBlocks(sent)).toEqual(mcpBlocks(listOf(claude.content) ?? []));
      }),
      { numRuns: runs(60) },
    );
  });

  it('goes on at OpenAI with what it said, through a client of the Messages API', () => {
    fc.assert(
      fc.property(generation({ mcp: true }), seed, (reply, cuts) => {
        const { content } = replyWith(formats['anthropic-messages'], toEvents(reply, cuts), client);
        const blocks = (listOf(content) ?? []).filter(isObject);
        const results = blocks.flatMap(({ type, id }) =>
          type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: id, content: 'ok' }] : [],
        );
        const turns = [
          ...messages,
          { role: 'assistant', content: blocks },
          { role: 'user', content: [...results, { type: 'text', text: 'Go on' }] },
        ];
        const { body } = translate(TO_OPENAI, { ...own(), messages: turns });
        const items = (listOf(body.input) ?? []).filter(isObject).filter(({ type }) => type === 'mcp_call');
        expect(
          items.map(({ name, arguments: args, output, error }) => ({ name, args, said: output ?? error })),
        ).toEqual(
          reply.choices[0]!.blocks.flatMap((block) =>
            block.type === 'mcp_call' ? [{ name: block.name, args: block.arguments, said: block.output }] : [],
          ),
        );
      }),
      { numRuns: runs(60) },
    );
  });
});

const mcpBlocks = (content: readonly unknown[]): readonly JsonObject[] =>
  content.filter(isObject).flatMap(({ id: _, tool_use_id: __, ...block }) =>
    // Items have ids of their own.
    String(block.type).startsWith('mcp_') ? [block] : [],
  );
