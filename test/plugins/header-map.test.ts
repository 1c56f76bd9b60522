import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../http/websockets/kit.testkit.ts';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import {
  anthropicEvents,
  anthropicReply,
  entriesFor,
  geminiReply,
  json,
  openaiChunk,
  openaiReply,
  sse,
  startUpstream,
  type ScriptedUpstream,
} from '../support/upstream.ts';
import { CLIENT_APIS, GEMINI_ARRAY, send, TARGETS } from './client-apis.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream(({ url, json: body }, res) => {
    const stream = body['stream'] === true || url.includes('streamGenerate');
    if (url.includes('enerateContent')) return stream ? sse(res, [geminiReply('ok')]) : json(res, geminiReply('ok'));
    if (url.includes('/messages')) return stream ? sse(res, anthropicEvents('ok')) : json(res, anthropicReply('ok'));
    if (!stream) return json(res, openaiReply('ok'));
    return sse(res, [openaiChunk({ content: 'ok' }), openaiChunk({}, 'stop'), 'data: [DONE]\n\n']);
  });
  const options = {
    metadata: { 'x-tenant': 'tenant', 'x-env': 'env' },
    upstream: { 'x-conversation': 'x-session-id' },
  };
  gateway = await startTestGateway({
    server: { chains: { entry: { add: [{ plugin: 'header-map', after: 'auth', options }] } } },
    keys: { keys: [{ id: 'test', key: `\${env:TEST_KEY:-${KEY}}`, metadata: { env: 'prod' } }] },
    catalog: { providers: entriesFor(upstream.url) },
    gateway: {
      tenants: { metadata: { required: ['tenant'], allowed: { tenant: ['search'] } } },
      cached: { cache: { mode: 'simple', max_age: 60 } },
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const HEADERS = { 'x-gateway-config': 'tenants', 'x-tenant': 'search', 'x-conversation': 'c-1' };
const GEMINI_TOKEN = { authorization: 'Bearer ya29.own-token' };

const doors = [
  ...CLIENT_APIS.flatMap((api) => [false, true].map((stream) => ({ api, stream, name: api.name }))),
  { api: GEMINI_ARRAY, stream: true, name: GEMINI_ARRAY.name },
].flatMap((door) => TARGETS.map((target) => ({ ...door, target })));

describe('a mapped header', () => {
  it.each(doors)(
    'reaches rules of metadata and $target, from $name, stream: $stream',
    async ({ api, stream, target }) => {
      const response = await send(gateway.url, api, target, { stream, headers: { ...HEADERS, ...GEMINI_TOKEN } });
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('ok')]);
      const { headers } = upstream.seen.at(-1)!;
      expect([headers['x-session-id'], headers['x-conversation'], headers['x-tenant']]).toEqual([
        'c-1',
        undefined,
        undefined,
      ]);
    },
  );

  it('reaches each turn of a WebSocket', async () => {
    const client = await connect(gateway, { headers: { 'x-gateway-api-key': KEY, ...HEADERS } });
    for (const input of ['one', 'two']) {
      const frames = await client.turn({ model: '@openai/m', input, store: false });
      expect(frames.at(-1)?.type).toBe('response.completed');
      expect(upstream.seen.at(-1)!.headers['x-session-id']).toBe('c-1');
    }
    client.ws.close();
  });

  it.each([
    ['has another value', { ...HEADERS, 'x-tenant': 'ads' }],
    [
      'takes precedence over the metadata of the caller',
      { ...HEADERS, 'x-tenant': 'ads', 'x-gateway-metadata': '{"tenant":"search"}' },
    ],
  ])('that %s is refused by a rule of metadata', async (_, headers) => {
    const response = await send(gateway.url, CLIENT_APIS[0]!, '@openai/m', { headers });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('metadata_rejected')]);
  });

  it('does not replace metadata of the key', async () => {
    const response = await send(gateway.url, CLIENT_APIS[0]!, '@openai/m', { headers: { ...HEADERS, 'x-env': 'dev' } });
    await response.text();
    const line = gateway.logs.findLast(({ msg }) => typeof msg === 'string' && msg.startsWith('request '));
    expect(gateway.gateway.record(String(line?.['request_id']))).toMatchObject({
      metadata: { env: 'prod', tenant: 'search' },
    });
  });

  it('keeps cached replies apart', async () => {
    const statuses: (string | null)[] = [];
    for (const value of ['a', 'a', 'b']) {
      const headers = { 'x-gateway-config': 'cached', 'x-conversation': value };
      const response = await send(gateway.url, CLIENT_APIS[0]!, '@openai/m', { headers });
      await response.text();
      statuses.push(response.headers.get('x-gateway-cache-status'));
    }
    expect(statuses).toEqual(['MISS', 'HIT', 'MISS']);
  });
});
