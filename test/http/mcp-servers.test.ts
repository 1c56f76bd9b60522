import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai7';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { anthropicReply, entriesFor, json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import { claudeWithServers, openaiWithServers } from './mcp-upstreams.testkit.ts';

/** MCP servers of one vendor's clients at the models of the other, with the clients that the vendors publish. */

const GUARDED = 'gatehouse-guarded-key-0123456789';
const TOKEN = 'token-of-the-mcp-server-0123';
const CLAUDE = '@claude/claude-sonnet-4-5';
const OPENAI = '@native/gpt-5.4';
const VERTEX = '@gemini/anthropic.claude-sonnet-4-5';

let gateway: TestGateway;
let upstream: ScriptedUpstream;

beforeAll(async () => {
  upstream = await startUpstream((request, res, index) => {
    if (request.url.includes('/responses')) return openaiWithServers(request, res, index);
    if (request.url.includes('rawPredict')) return json(res, anthropicReply('Hi.'));
    return claudeWithServers(request, res, index);
  });
  const native = { slug: 'native', provider: 'openai', api: 'responses', api_key: '${env:NONE:-upstream-secret-key}' };
  gateway = await startTestGateway({
    catalog: {
      providers: [...entriesFor(upstream.url), { ...native, base_url: `${upstream.url}/v1`, allow_insecure: true }],
    },
    keys: {
      keys: [
        { id: 'test', key: `\${env:NONE:-${KEY}}` },
        { id: 'guarded', key: `\${env:NONE:-${GUARDED}}`, fields: { deny: ['mcp_servers'] } },
      ],
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const sent = () => upstream.seen.at(-1)!;

async function post(path: string, body: object, key = KEY, headers: Readonly<Record<string, string>> = {}) {
  const reply = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': key, ...headers },
    body: JSON.stringify(body),
  });
  const { error } = (await reply.json()) as { error?: { code?: string; param?: string } };
  return { status: reply.status, error, lost: reply.headers.get('x-gateway-dropped-params') };
}

const tool: OpenAI.Responses.Tool.Mcp = {
  type: 'mcp',
  server_label: 'docs',
  server_url: 'https://mcp.example/sse',
  authorization: TOKEN,
  allowed_tools: ['read'],
  require_approval: 'never',
};
const definition = { type: 'url', url: 'https://mcp.example/sse', name: 'docs', authorization_token: TOKEN } as const;
const toolset = { type: 'mcp_toolset', mcp_server_name: 'docs' } as const;

describe('Claude for the client of OpenAI', () => {
  const client = () => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: KEY, maxRetries: 0 });
  const user = { role: 'user' as const, content: 'Read.' };
  const ask = { model: CLAUDE, tools: [tool], input: [user] };
  const CALL = {
    type: 'mcp_call',
    status: 'completed',
    server_label: 'docs',
    name: 'read',
    arguments: '{"page":1}',
    output: 'Page one.',
    error: null,
  };
  const items = [{ type: 'message' }, CALL, { type: 'message', content: [{ text: 'It says so.' }] }];

  it('calls a server, and the stream has each step of it', async () => {
    const types: string[] = [];
    const stream = client()
      .responses.stream(ask)
      .on('event', ({ type }) => void types.push(type));
    const response = await stream.finalResponse();
    expect(response.output).toMatchObject(items);
    expect(types.filter((type) => type.includes('mcp'))).toEqual(
      ['call.in_progress', 'call_arguments.delta', 'call_arguments.done', 'call.completed'].map(
        (step) => `response.mcp_${step}`,
      ),
    );
    expect(sent().json).toMatchObject({
      mcp_servers: [definition],
      tools: [{ ...toolset, default_config: { enabled: false }, configs: { read: { enabled: true } } }],
    });
    // Nobody but the vendor gets the token.
    expect(JSON.stringify(response)).not.toContain(TOKEN);
  });

  it('goes on with what the client sends back, and with what the client names', async () => {
    const { id, output } = await client().responses.create(ask);
    expect(output).toMatchObject(items);
    const next = { role: 'user' as const, content: 'Go on.' };
    const said = output.filter((item) => item.type === 'mcp_call' || item.type === 'message');
    const asks = [
      { ...ask, input: [user, ...said, next] },
      { ...ask, input: [next], previous_response_id: id },
    ];
    for (const again of asks) {
      await client().responses.stream(again).finalResponse();
      expect((sent().json['messages'] as { content: object[] }[])[1]?.content).toMatchObject([
        { type: 'text' },
        { type: 'mcp_tool_use', server_name: 'docs', name: 'read', input: { page: 1 } },
        { type: 'mcp_tool_result', content: [{ type: 'text', text: 'Page one.' }] },
        { type: 'text' },
      ]);
    }
    const kept = await client().responses.retrieve(id);
    expect(JSON.stringify(kept)).not.toContain(TOKEN);
  });

  it('refuses a server whose calls need an approval', async () => {
    const refused = client().responses.create({ ...ask, tools: [{ ...tool, require_approval: 'always' }] });
    await expect(refused).rejects.toMatchObject({ status: 400, param: 'tools[0].require_approval' });
  });
});

describe('OpenAI for the client of Anthropic', () => {
  const client = () => new Anthropic({ baseURL: gateway.url, apiKey: KEY, authToken: null, maxRetries: 0 });
  const ask = {
    model: OPENAI,
    max_tokens: 100,
    messages: [{ role: 'user' as const, content: 'Read.' }],
    mcp_servers: [definition],
    tools: [toolset],
    betas: ['mcp-client-2025-11-20'],
  };
  const blocks = [
    { type: 'mcp_tool_use', server_name: 'docs', name: 'read', input: { page: 1 } },
    { type: 'mcp_tool_result', is_error: false, content: [{ type: 'text', text: 'Page one.' }] },
    { type: 'text', text: 'It says so.' },
  ];

  it('calls a server, plain and streamed', async () => {
    const plain = await client().beta.messages.create(ask);
    const streamed = await client().beta.messages.stream(ask).finalMessage();
    for (const { content } of [plain, streamed]) expect(content).toMatchObject(blocks);
    expect(sent().json['tools']).toEqual([
      {
        type: 'mcp',
        server_label: 'docs',
        server_url: definition.url,
        authorization: TOKEN,
        require_approval: 'never',
      },
    ]);
  });

  it('goes on with what the client sends back, and nothing is lost', async () => {
    const { content } = await client().beta.messages.create(ask);
    const messages = [
      ...ask.messages,
      { role: 'assistant', content: JSON.parse(JSON.stringify(content)) as object[] },
      { role: 'user', content: 'Go on.' },
    ];
    const { betas, ...body } = { ...ask, messages };
    const strict = { 'anthropic-beta': betas.join(','), 'x-gateway-strict-params': 'true' };
    expect(await post('/v1/messages', body, KEY, strict)).toMatchObject({ status: 200, lost: null });
    expect((sent().json['input'] as object[]).slice(1, 3)).toMatchObject([
      { type: 'mcp_call', id: 'mcp_01A', server_label: 'docs', name: 'read', output: 'Page one.', error: null },
      { type: 'message', role: 'assistant' },
    ]);
  });

  it('refuses a denylist, which OpenAI does not have', async () => {
    const tools = [{ ...toolset, configs: { rm: { enabled: false } } }];
    const refused = client().beta.messages.create({ ...ask, tools });
    await expect(refused).rejects.toMatchObject({
      status: 400,
      error: { error: { message: expect.stringContaining('tools[0].configs') } },
    });
  });
});

describe('Claude on Vertex AI', () => {
  it('gets neither servers nor toolsets, nor a choice without tools', async () => {
    const body = {
      model: VERTEX,
      max_tokens: 9,
      messages: [{ role: 'user', content: 'Hi' }],
      mcp_servers: [definition],
    };
    const f = { name: 'f', input_schema: { type: 'object' } };
    const own = { authorization: 'Bearer token-of-google' };
    const some = await post('/v1/messages', { ...body, tools: [f, toolset] }, KEY, own);
    expect([some.status, some.lost?.split(',').toSorted()]).toEqual([200, ['mcp_servers', 'tools[1]']]);
    expect(sent().json).toMatchObject({ tools: [f] });
    const alone = await post('/v1/messages', { ...body, tools: [toolset], tool_choice: { type: 'any' } }, KEY, own);
    expect([alone.status, alone.lost?.split(',').toSorted()]).toEqual([
      200,
      ['mcp_servers', 'tool_choice', 'tools[0]'],
    ]);
    for (const field of ['mcp_servers', 'tools', 'tool_choice']) expect(sent().json).not.toHaveProperty(field);
  });
});

describe('a key that may use no MCP servers', () => {
  const messages = [{ role: 'user', content: 'Hi' }];

  it.each<[string, string, object, string]>([
    [
      'as Anthropic has them',
      '/v1/messages',
      { model: CLAUDE, max_tokens: 9, messages, mcp_servers: [definition], tools: [toolset] },
      'mcp_servers',
    ],
    ['as OpenAI has them', '/v1/responses', { model: CLAUDE, input: 'Hi', tools: [tool] }, 'tools[0].server_url'],
    [
      'in a namespace',
      '/v1/responses',
      { model: OPENAI, input: 'Hi', tools: [{ type: 'namespace', name: 'n', tools: [tool] }] },
      'tools[0].tools[0].server_url',
    ],
    [
      'as OpenAI’s connectors',
      '/v1/responses',
      { model: OPENAI, input: 'Hi', tools: [{ type: 'mcp', server_label: 'm', connector_id: 'connector_gmail' }] },
      'tools[0].connector_id',
    ],
    [
      'in items',
      '/v1/responses',
      { model: CLAUDE, input: [{ type: 'additional_tools', role: 'developer', tools: [tool] }, ...messages] },
      'input[0].tools[0].server_url',
    ],
  ])('is refused them %s', async (_, path, body, param) => {
    const before = upstream.seen.length;
    const { status, error } = await post(path, body, GUARDED);
    expect([status, upstream.seen.length - before]).toEqual([400, 0]);
    expect(JSON.stringify(error)).toContain(param);
  });
});
