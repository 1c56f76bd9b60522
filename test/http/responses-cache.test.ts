import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import {
  entriesFor,
  json,
  openaiChunk,
  openaiReply,
  sse,
  startUpstream,
  type ScriptedUpstream,
} from '../support/upstream.ts';

/** Cached replies of the Responses API: each has ids of its own, and the requests that an upstream stores bypass the cache. */

type Json = Record<string, unknown>;

let upstream: ScriptedUpstream;
const gateways = new Map<string, TestGateway>();

const native = (index: number): Json => ({
  id: `resp_native_${index}`,
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'gpt-x',
  previous_response_id: null,
  store: true,
  metadata: { previous_response_id: 'a text of the caller', store: true },
  output: [
    {
      type: 'message',
      id: `msg_native_${index}`,
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Hi "previous_response_id":"x".', annotations: [] }],
    },
  ],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
});

beforeAll(async () => {
  upstream = await startUpstream(({ url, json: body }, res, index) => {
    if (!url.includes('/responses'))
      return body['stream'] === true
        ? sse(res, [openaiChunk({ role: 'assistant', content: 'Hi' }), openaiChunk({}, 'stop'), 'data: [DONE]\n\n'])
        : json(res, openaiReply('Hi'));
    const whole = native(index);
    if (body['stream'] !== true) return json(res, whole);
    const started = { ...whole, status: 'in_progress', output: [] };
    const events = [
      { type: 'response.created', sequence_number: 0, response: started },
      { type: 'response.completed', sequence_number: 1, response: whole },
    ];
    return sse(
      res,
      events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
    );
  });
  const at = { base_url: `${upstream.url}/v1`, allow_insecure: true };
  const catalog = {
    providers: [
      ...entriesFor(upstream.url),
      { slug: 'native', provider: 'openai', api: 'responses', unknown_ids: 'pass', ...at },
    ],
  };
  const gateway = { cached: { cache: { mode: 'exact', max_age: 60 } } };
  const server = { default_config: 'cached' };
  gateways.set('keeps', await startTestGateway({ catalog, gateway, server }));
  gateways.set('off', await startTestGateway({ catalog, gateway, server: { ...server, responses: { store: false } } }));
});
afterAll(async () => {
  for (const gateway of gateways.values()) await gateway.close();
  await upstream.close();
});

interface Asked {
  readonly store?: 'keeps' | 'off';
  readonly headers?: Readonly<Record<string, string>>;
}

async function ask(body: Json, { store = 'keeps', headers = {} }: Asked = {}) {
  const reply = await fetch(`${gateways.get(store)!.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  const datas = text
    .split('\n')
    .flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6)) as Json] : []));
  const responses =
    body['stream'] === true
      ? datas.flatMap(({ response }) => (response ? [response as Json] : []))
      : [JSON.parse(text) as Json];
  return { text, responses, response: responses.at(-1)!, cache: reply.headers.get('x-gateway-cache-status') };
}

let asked = 0;
/** A question of its own for each test. */
const question = (more: Json = {}): Json => ({ model: '@openai/gpt-4o', input: `Question ${(asked += 1)}`, ...more });

describe('a cached response', () => {
  it.each([
    ['plain', '@openai/gpt-4o', false],
    ['a stream', '@openai/gpt-4o', true],
    ['plain, of an upstream with this API', '@native/gpt-x', false],
    ['a stream, of an upstream with this API', '@native/gpt-x', true],
  ])('has an id of its own, also where nothing is kept (%s)', async (_, model, stream) => {
    for (const store of ['keeps', 'off'] as const) {
      const body = question({ model, stream, store: false });
      const [first, second] = [await ask(body, { store }), await ask(body, { store })];
      expect([first.cache, second.cache]).toEqual(['MISS', 'HIT']);
      const ids = new Set(second.responses.map(({ id }) => id));
      expect(ids).toEqual(new Set([expect.stringMatching(/^resp_[0-9a-f]{32}$/)]));
      expect(ids.has(first.response['id'])).toBe(false);
    }
  });

  it('has one id for each use of one request id', async () => {
    const body = question({ store: false });
    const headers = { 'x-request-id': 'order-4711' };
    const ids = [];
    for (let time = 0; time < 3; time += 1) ids.push((await ask(body, { headers })).response['id']);
    expect(new Set(ids).size).toBe(3);
  });

  it.each([
    ['plain', false],
    ['a stream', true],
  ])('names the conversation of its own request (%s)', async (_, stream) => {
    const opening = question({ model: '@native/gpt-x' });
    const [first, second] = [await ask(opening), await ask(opening)];
    const next = { model: '@native/gpt-x', input: 'And then?', stream };
    const replies = [];
    for (const { response } of [first, second])
      replies.push(await ask({ ...next, previous_response_id: response['id'] }));
    expect(replies.map(({ cache }) => cache)).toEqual(['MISS', 'HIT']);
    expect(replies[1]!.responses.map((each) => each['previous_response_id'])).toEqual(
      replies[1]!.responses.map(() => second.response['id']),
    );
    // What the caller or the model wrote stays, whatever it looks like.
    expect(replies[1]!.response).toMatchObject({
      store: true,
      metadata: { previous_response_id: 'a text of the caller', store: true },
      output: [{ content: [{ text: 'Hi "previous_response_id":"x".' }] }],
    });
  });
});

describe('a request for a response', () => {
  it.each<[string, 'keeps' | 'off', Json, string]>([
    ['that the gateway keeps', 'keeps', {}, 'HIT'],
    ['that the gateway keeps in place of its upstream', 'keeps', { model: '@native/gpt-x' }, 'HIT'],
    ['that nothing keeps', 'off', {}, 'HIT'],
    ['that its upstream must not keep', 'off', { model: '@native/gpt-x', store: false }, 'HIT'],
    ['that only its upstream keeps', 'off', { model: '@native/gpt-x' }, 'BYPASS'],
    ['that its upstream keeps on request', 'keeps', { model: '@native/gpt-x', store: true }, 'BYPASS'],
    [
      'that becomes an item of a conversation',
      'keeps',
      { model: '@native/gpt-x', conversation: 'conv_1', store: false },
      'BYPASS',
    ],
    ['without a conversation', 'keeps', { model: '@native/gpt-x', conversation: null }, 'HIT'],
  ])('%s gets a cached one only if it stores nothing at the upstream', async (_, store, more, expected) => {
    const body = question(more);
    const before = upstream.seen.length;
    const replies = [await ask(body, { store }), await ask(body, { store })];
    expect(replies.map(({ cache }) => cache)).toEqual([expected === 'HIT' ? 'MISS' : 'BYPASS', expected]);
    expect(upstream.seen.length - before).toBe(expected === 'HIT' ? 1 : 2);
  });
});
