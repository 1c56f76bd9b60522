import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import {
  anthropicEvents,
  anthropicReply,
  entriesFor,
  json,
  openaiChunk,
  openaiReply,
  sse,
  startUpstream,
  type ScriptedUpstream,
} from '../support/upstream.ts';
import { connect } from './websockets/kit.testkit.ts';

/** Wildcard aliases: `openai/*` stands for every model of an entry under the names that clients know. */

let upstream: ScriptedUpstream;
let gateway: TestGateway;

const key = (id: string, more: object = {}) => ({ id, key: `\${env:NONE:-gatehouse-${id}-key-0123456789}`, ...more });

beforeAll(async () => {
  upstream = await startUpstream(({ json: body, url }, res) => {
    const stream = body['stream'] === true;
    if (url.includes('messages')) return stream ? sse(res, anthropicEvents('Hi')) : json(res, anthropicReply('Hi'));
    if (!stream) return json(res, openaiReply('Hi'));
    return sse(res, [openaiChunk({ content: 'Hi' }), openaiChunk({}, 'stop'), 'data: [DONE]\n\n']);
  });
  const [, ...others] = entriesFor(upstream.url);
  const openai = { provider: 'openai', api: 'chat', base_url: `${upstream.url}/v1`, allow_insecure: true };
  gateway = await startTestGateway({
    catalog: {
      providers: [
        { ...openai, slug: 'openai' },
        ...others,
        { ...openai, slug: 'narrow', models: ['gpt-4.1', 'gpt-5*', 'o3'] },
      ],
      aliases: {
        'openai/*': { target: '@openai/*' },
        'openai/claude-*': { target: '@claude/claude-*' },
        'openai/best': { target: '@claude/claude-opus-4-5' },
        'n/*': { target: '@narrow/*', context: 1000 },
        // The path of Vertex AI puts `anthropic.` before the name.
        'claude-*': { target: '@claude/claude-*' },
        'anth*': { target: '@openai/*' },
        'n/hidden*': { target: '@narrow/gpt-*', hidden: true },
      },
    },
    keys: {
      keys: [
        { id: 'all', key: `\${env:NONE:-${KEY}}` },
        key('wild', { models: ['openai/*'] }),
        key('one', { models: ['openai/gpt-4.1'] }),
        key('part', { models: ['openai/gpt-4*', 'n/o*'] }),
        key('names', { models: ['openai/gpt-4.1', 'n/gpt-5-mini', 'n/o4'] }),
        key('target', { models: ['@openai/gpt-4*'] }),
        key('entry', { models: ['openai/*'], providers: ['@claude'] }),
      ],
    },
    gateway: { named: { override_params: { model: 'openai/gpt-4.1' } } },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const keyOf = (id: string): string => (id === 'all' ? KEY : `gatehouse-${id}-key-0123456789`);

async function post(path: string, body: object, id = 'all', more: Record<string, string> = {}) {
  const before = upstream.seen.length;
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${keyOf(id)}`, 'content-type': 'application/json', ...more },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text(), sent: upstream.seen.slice(before) };
}

const messages = [{ role: 'user', content: 'hi' }];
const chat = (model: string, id = 'all', more: Record<string, string> = {}) =>
  post('/v1/chat/completions', { model, messages }, id, more);

const NAME = 'openai/gpt-4.1';
const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];
const DOORS: readonly (readonly [string, string, object])[] = [
  ['chat', '/v1/chat/completions', { model: NAME, messages }],
  ['chat, streamed', '/v1/chat/completions', { model: NAME, messages, stream: true }],
  ['Messages', '/v1/messages', { model: NAME, messages, max_tokens: 9 }],
  ['Messages, streamed', '/v1/messages', { model: NAME, messages, max_tokens: 9, stream: true }],
  ['Messages with a long context', '/v1/messages', { model: `${NAME}[1m]`, messages, max_tokens: 9 }],
  ['Responses', '/v1/responses', { model: NAME, input: 'hi' }],
  ['Responses, streamed', '/v1/responses', { model: NAME, input: 'hi', stream: true }],
  ['Gemini', `/v1beta/models/${NAME}:generateContent`, { contents }],
  ['Gemini, streamed', `/v1beta/models/${NAME}:streamGenerateContent?alt=sse`, { contents }],
];

describe('a request for a name that a wildcard alias stands for', () => {
  it.each(DOORS)('reaches the model at every door, and its reply has the name of the request: %s', async (...row) => {
    const [, path, body] = row;
    const { status, text, sent } = await post(path, body);
    expect([status, sent.map((request) => request.json['model'])], text).toEqual([200, ['gpt-4.1']]);
    const named = [...text.matchAll(/"(?:model|modelVersion)":"([^"]*)"/g)].map(([, model]) => model);
    expect(new Set(named)).toEqual(new Set([NAME]));
  });

  it('reaches the model over a WebSocket', async () => {
    const before = upstream.seen.length;
    const client = await connect(gateway);
    const events = await client.turn({ model: NAME, input: 'hi' });
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { model: NAME } });
    client.ws.close();
    await client.end();
    expect(upstream.seen.slice(before).map((request) => request.json['model'])).toEqual(['gpt-4.1']);
  });

  it.each([
    ['openai/ft:gpt-4.1:org::id', 'ft:gpt-4.1:org::id', '/v1/chat/completions'],
    // The longest text before the star comes first, and an exact name before it.
    ['openai/claude-sonnet-4-5', 'claude-sonnet-4-5', '/v1/messages'],
    ['openai/best', 'claude-opus-4-5', '/v1/messages'],
  ])('reaches the alias that fits best: %s', async (model, sent, path) => {
    const reply = await chat(model);
    expect(reply.sent.map(({ url, json: body }) => [url, body['model']])).toEqual([[path, sent]]);
  });

  it('reaches the model by the path of Vertex AI for Anthropic’s clients', async () => {
    const path = '/v1/projects/p/locations/l/publishers/anthropic/models/claude-opus-4-5:rawPredict';
    const body = { anthropic_version: 'vertex-2023-10-16', max_tokens: 9, messages };
    const { status, sent } = await post(path, body, 'all', { 'x-gateway-api-key': KEY });
    expect([status, sent.map(({ url, json: { model } }) => [url, model])]).toEqual([
      200,
      [['/v1/messages', 'claude-opus-4-5']],
    ]);
  });

  it.each([
    ['openai/', 'provider_required'],
    ['other/gpt-4.1', 'provider_required'],
    ['OpenAI/gpt-4.1', 'provider_required'],
    ['openai/../secret', 'invalid_model'],
    ['openai/a?b', 'invalid_model'],
    [`openai/${'x'.repeat(300)}`, 'invalid_model'],
    ['n/o4', 'model_not_allowed'],
  ])('is refused: %s', async (model, code) => {
    const { text, sent } = await chat(model);
    expect([JSON.parse(text), sent.length]).toMatchObject([{ error: { code } }, 0]);
  });

  it.each([
    ['wild', NAME, 200],
    ['wild', '@openai/gpt-4.1', 403],
    // Other aliases, though the pattern would fit them.
    ['wild', 'openai/best', 403],
    ['wild', 'openai/claude-sonnet-4-5', 403],
    ['wild', 'n/gpt-4.1', 403],
    ['one', NAME, 200],
    ['one', 'openai/gpt-4o', 403],
    ['one', '@openai/gpt-4.1', 403],
    ['target', NAME, 200],
    ['target', 'openai/o3', 403],
    ['entry', NAME, 403],
  ])('is held to the models of the key %s: %s', async (id, model, status) => {
    const reply = await chat(model, id);
    expect(reply.status, reply.text).toBe(status);
    if (status !== 403 || model.startsWith('@')) return;
    expect(reply.text).toContain(
      `This key may not use the model ${JSON.stringify(JSON.stringify(model)).slice(1, -1)}`,
    );
    expect(reply.text).not.toContain('@openai');
  });

  it('may stand in the parameters of a target', async () => {
    const { sent } = await chat('any', 'all', { 'x-gateway-config': 'named' });
    expect(sent.map((request) => request.json['model'])).toEqual(['gpt-4.1']);
    expect((await chat('any', 'one', { 'x-gateway-config': 'named' })).status).toBe(200);
  });

  it('has the alias of the settings in metrics and the log, however many names callers make up', async () => {
    for (let index = 0; index < 20; index += 1) await chat(`openai/made-up-${index}`);
    const metrics = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
    const labels = [...metrics.matchAll(/gatehouse_alias_requests_total\{alias="([^"]*)",/g)].map(([, name]) => name);
    expect(new Set(labels)).toEqual(new Set(['openai/*', 'openai/claude-*', 'openai/best', 'n/*', 'claude-*']));
    expect(metrics).not.toContain('made-up');
    expect(gateway.logs.findLast(({ alias }) => alias !== undefined)).toMatchObject({
      alias: 'openai/*',
      request_model: 'made-up-19',
    });
  });
});

describe('lists of models with wildcard aliases', () => {
  const idsOf = async (id: string): Promise<readonly string[]> => {
    const response = await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${keyOf(id)}` } });
    const { data } = (await response.json()) as { data: { id: string }[] };
    return data.map((model) => model.id);
  };

  it('have the models that the entry lists, and a wildcard itself where its entry lists none', async () => {
    const listed = (await idsOf('all')).filter((name) => !name.startsWith('@'));
    expect(listed).toEqual(['anth*', 'claude-*', 'n/gpt-4.1', 'n/o3', 'openai/*', 'openai/best', 'openai/claude-*']);
    expect(await idsOf('wild')).toEqual(['openai/*']);
    expect(await idsOf('entry')).toEqual([]);
  });

  it('have the names of the key that a wildcard stands for, and its patterns where the wildcard stands for itself', async () => {
    expect(await idsOf('part')).toEqual(['n/o3', 'openai/gpt-4*']);
    expect(await idsOf('names')).toEqual(['n/gpt-5-mini', 'openai/gpt-4.1']);
    expect(await idsOf('one')).toEqual(['openai/gpt-4.1']);
  });

  it.each([
    ['all', 'n/gpt-4.1', 200],
    ['all', 'n/gpt-5-mini', 200],
    ['all', 'n/o4', 404],
    ['all', NAME, 200],
    ['wild', NAME, 200],
    ['wild', 'n/gpt-4.1', 404],
  ])('find, for the key %s, %s: %s', async (id, model, status) => {
    const headers = { authorization: `Bearer ${keyOf(id)}` };
    const response = await fetch(`${gateway.url}/v1/models/${encodeURIComponent(model)}`, { headers });
    expect(response.status).toBe(status);
    if (status === 200) expect(await response.json()).toMatchObject({ id: model });
  });
});
