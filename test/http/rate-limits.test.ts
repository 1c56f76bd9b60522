import { explainOf } from '../support/explain-of.ts';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { ApiError, GoogleGenAI } from '@google/genai';
import OpenAI, { RateLimitError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, until, type TestGateway } from '../support/gateway.ts';
import { json, openaiChunk, openaiReply, sse, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

/** Limits of rates and concurrency: `6/min` lets one request through and then one in ten seconds. */

const LIMITS = {
  free: undefined,
  chat: { requests: '6/min' },
  responses: { requests: '6/min' },
  messages: { requests: '6/min' },
  gemini: { requests: '6/min' },
  openai7: { requests: '6/min' },
  claude: { requests: '6/min' },
  google: { requests: '6/min' },
  wide: { requests: '600/min', tokens: '60000/min' },
  one: { concurrency: 1 },
  patient: { concurrency: 1 },
  tokens: { tokens: '600/min' },
  seen: { requests: '6/min', tokens: '60000/min' },
  opus: { models: { 'big-*': { requests: '6/min' } } },
  held: { concurrency: 5 },
  load: { requests: '600/min' },
} as const;

const keyOf = (id: string): string => `gatehouse-test-key-${id}-0123456789`;

const keys = [
  ...Object.entries(LIMITS).map(([id, limits]) => ({
    id,
    key: `\${env:NONE:-${keyOf(id)}}`,
    inline_configs: true,
    ...(limits && { limits }),
  })),
  ...['first', 'second'].map((id) => ({ id, key: `\${env:NONE:-${keyOf(id)}}`, team: 'shared' })),
];

let upstream: ScriptedUpstream;
let gateway: TestGateway;
/** Ends the streams that are open. */
let endStreams: (() => void)[] = [];

beforeAll(async () => {
  upstream = await startUpstream(async ({ json: body }, res) => {
    if (body['stream'] === true) {
      await sse(res, [openaiChunk({ content: 'Hel' })], false);
      await new Promise<void>((resolve) => {
        endStreams.push(resolve);
        res.on('close', resolve);
      });
      return void res.end(`data: ${JSON.stringify(openaiChunk({ content: 'lo' }, 'stop'))}\n\ndata: [DONE]\n\n`);
    }
    const used = Number(body['user'] ?? 10);
    const usage = { prompt_tokens: used, completion_tokens: 0, total_tokens: used };
    json(res, openaiReply('Hello', { usage }), 200, { 'x-ratelimit-remaining-requests': '12345' });
  });
  const place = { provider: 'simulator', base_url: upstream.url, allow_insecure: true };
  gateway = await startTestGateway({
    catalog: {
      providers: [
        { slug: 'sim', ...place },
        { slug: 'tight', ...place, limits: { requests: '6/min' } },
        { slug: 'alone', ...place, limits: { models: { 'few-*': { requests: '6/min' } } } },
      ],
    },
    keys: { keys },
    teams: { teams: { shared: { limits: { requests: '6/min' } } } },
    gateway: {
      falls: {
        strategy: { mode: 'fallback' },
        retry: { attempts: 3, on_status_codes: [429], min_delay: '1ms' },
        targets: [
          { provider: '@tight', circuit_breaker: { failures: 1, window: '60s', cooldown: '60s' } },
          { provider: '@sim' },
        ],
      },
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const post = (key: string, path: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': keyOf(key), ...headers },
    body: JSON.stringify(body),
  });
const HI = { messages: [{ role: 'user', content: 'hi' }] };
const chat = (key: string, more: object = {}, headers: Record<string, string> = {}): Promise<Response> =>
  post(key, '/v1/chat/completions', { model: '@sim/m', ...HI, ...more }, headers);

const rateHeaders = ({ headers }: Response): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => name.includes('ratelimit')));

/** Waits for the end of the request in the gateway, which the client may see sooner. */
async function whole(response: Response): Promise<Response> {
  await response.arrayBuffer();
  await until(() => gateway.gateway.records({ limit: 1 }).length > 0, 'a record');
  return response;
}

const WAIT = /^Rate limit reached: the key \w+ may send 6 requests per minute\. Please try again in [\d.]+s\.$/;

describe('a request beyond its limit', () => {
  const responses = { model: '@sim/m', input: 'hi' };
  const gemini = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] };
  it.each<[key: string, ask: (key: string) => Promise<Response>, body: object]>([
    [
      'chat',
      (key) => chat(key),
      { error: { message: expect.stringMatching(WAIT), type: 'requests', param: null, code: 'rate_limit_exceeded' } },
    ],
    [
      'responses',
      (key) => post(key, '/v1/responses', responses),
      { error: { message: expect.stringMatching(WAIT), type: 'requests', param: null, code: 'rate_limit_exceeded' } },
    ],
    [
      'messages',
      (key) => post(key, '/v1/messages', { model: '@sim/m', max_tokens: 9, ...HI }),
      { type: 'error', error: { type: 'rate_limit_error', message: expect.stringMatching(WAIT) } },
    ],
    [
      'gemini',
      (key) => post(key, '/v1beta/models/@sim%2Fm:generateContent', gemini),
      {
        error: {
          code: 429,
          status: 'RESOURCE_EXHAUSTED',
          message: expect.stringMatching(WAIT),
          details: expect.arrayContaining([
            expect.objectContaining({ '@type': 'type.googleapis.com/google.rpc.QuotaFailure' }),
            {
              '@type': 'type.googleapis.com/google.rpc.RetryInfo',
              retryDelay: expect.stringMatching(/^(?:9\.\d{1,3}|10)s$/),
            },
          ]),
        },
      },
    ],
  ])('of %s gets a 429 of its own API, with the time to wait', async (key, ask, body) => {
    const before = upstream.seen.length;
    expect((await whole(await ask(key))).status).toBe(200);
    const refused = await ask(key);
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject(body);
    expect(refused.headers.get('retry-after')).toMatch(/^(?:9|10)$/);
    expect(Number(refused.headers.get('retry-after-ms'))).toBeGreaterThan(8000);
    expect(refused.headers.get('x-should-retry')).toBeNull();
    expect(upstream.seen.length - before).toBe(1);
  });

  it('of one key is one of its whole team', async () => {
    expect((await whole(await chat('first'))).status).toBe(200);
    const refused = await chat('second');
    expect(refused.status).toBe(429);
    expect(await refused.text()).toContain('the team shared may send 6 requests per minute');
  });

  it('is in the metrics, the access line and the record', async () => {
    await whole(await chat('seen'));
    const refused = await chat('seen');
    const id = refused.headers.get('x-gateway-request-id') ?? '';
    await refused.text();
    await until(() => gateway.gateway.record(id) !== undefined, 'the record is there');
    expect(gateway.gateway.record(id)).toMatchObject({
      status: 429,
      limited_by: 'key:requests',
      rejected: 'rate_limit',
      error: { code: 'limit_requests', type: 'rate_limited' },
    });
    expect(gateway.logs.find((line) => line['request_id'] === id)).toMatchObject({ limited_by: 'key:requests' });
    const metrics = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
    expect(metrics).toMatch(/^gatehouse_rate_limit_refusals_total\{node="key",limit="requests"\} [1-9]/m);
    expect(metrics).toMatch(/^gatehouse_rate_limit_refusals_total\{node="entry",limit="tokens"\} 0$/m);
  });

  it('is explained with the limits that it has', async () => {
    const { plugins } = await explainOf(gateway.gateway).explain({
      method: 'POST',
      path: '/v1/chat/completions',
      headers: { 'x-gateway-api-key': keyOf('seen') },
      body: JSON.stringify({ model: '@sim/m', ...HI }),
    });
    expect(plugins.find(({ name }) => name === 'limit')).toMatchObject({
      state: 'run',
      does: 'key seen: requests 6/min',
      refused: { code: 'limit_requests' },
    });
  });
});

describe('a reply', () => {
  it('has the limits of its caller as the client’s API spells them, and none of the upstream', async () => {
    const reply = await chat('wide');
    expect(rateHeaders(reply)).toEqual({
      'x-ratelimit-limit-requests': '600',
      // Ten come back each second, before the reply if the machine is slow.
      'x-ratelimit-remaining-requests': expect.stringMatching(/^(99|100)$/),
      'x-ratelimit-reset-requests': expect.stringMatching(/^0(?:\.\d{1,3})?s$/),
      'x-ratelimit-limit-tokens': '60000',
      'x-ratelimit-remaining-tokens': expect.stringMatching(/^(99\d\d|10000)$/),
      'x-ratelimit-reset-tokens': expect.stringMatching(/^0(?:\.\d{1,3})?s$/),
    });
    const messages = await post('wide', '/v1/messages', { model: '@sim/m', max_tokens: 9, ...HI });
    expect(Object.keys(rateHeaders(messages)).toSorted()).toEqual(
      ['requests', 'tokens'].flatMap((of) =>
        ['limit', 'remaining', 'reset'].map((part) => `anthropic-ratelimit-${of}-${part}`),
      ),
    );
    expect(messages.headers.get('anthropic-ratelimit-requests-reset')).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  });

  it('has none for a caller without limits', async () => {
    expect(rateHeaders(await chat('free'))).toEqual({});
  });

  it('has them in an error of another kind, too', async () => {
    const refused = await chat('wide', { model: '@nowhere/m' });
    expect([refused.status, rateHeaders(refused)['x-ratelimit-limit-requests']]).toEqual([400, '600']);
  });
});

describe('a place', () => {
  it('is held by a stream until its end, and then free', async () => {
    const stream = await chat('one', { stream: true });
    const refused = await chat('one');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    expect(await refused.text()).toContain('the key one may send 1 request at the same time');
    endStreams.splice(0).forEach((end) => end());
    await whole(stream);
    await until(() => endStreams.length === 0, 'the stream has ended');
    expect((await chatSoon('one')).status).toBe(200);
  });

  it('is free when the client of a stream has left', async () => {
    const leaving = new AbortController();
    const stream = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      signal: leaving.signal,
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': keyOf('one') },
      body: JSON.stringify({ model: '@sim/m', stream: true, ...HI }),
    });
    expect([stream.status, (await chat('one')).status]).toEqual([200, 429]);
    leaving.abort();
    expect((await chatSoon('one')).status).toBe(200);
  });

  /** The end of a reply reaches its client before the gateway has closed the request. */
  async function chatSoon(key: string): Promise<Response> {
    for (;;) {
      const response = await chat(key);
      if (response.status === 200) return response;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  it('is kept through reloads, and so is what is used', async () => {
    const streams = await Promise.all(Array.from({ length: 5 }, () => chat('held', { stream: true })));
    expect(streams.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    for (const limit of [4, 3, 5]) {
      const changed = keys.map((key) => (key.id === 'held' ? { ...key, limits: { concurrency: limit } } : key));
      writeFileSync(join(gateway.configs, 'keys.yaml'), JSON.stringify({ keys: changed }));
      expect(await gateway.gateway.reload()).not.toHaveProperty('diagnostics');
      expect((await chat('held')).status).toBe(429);
      expect((await chat('chat')).status).toBe(429);
    }
    endStreams.splice(0).forEach((end) => end());
    await Promise.all(streams.map((stream) => stream.arrayBuffer()));
    expect((await chatSoon('held')).status).toBe(200);
  });
});

it('a rate lets no more through while settings are reloaded under load', async () => {
  const from = performance.now();
  const sent: Promise<number>[] = [];
  const send = (): void => {
    for (let count = 0; count < 10; count += 1)
      sent.push(
        chat('load').then(async (response) => {
          await response.arrayBuffer();
          return response.status;
        }),
      );
  };
  // About 1,000 requests a second.
  const sending = setInterval(send, 10);
  for (const id of ['a', 'b', 'c', 'd']) {
    const changed = keys.map((key) => (key.id === 'free' ? { ...key, owner: id } : key));
    writeFileSync(join(gateway.configs, 'keys.yaml'), JSON.stringify({ keys: changed }));
    expect(await gateway.gateway.reload()).not.toHaveProperty('diagnostics');
  }
  clearInterval(sending);
  const statuses = await Promise.all(sent);
  const passed = statuses.filter((status) => status === 200).length;
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  // A full bucket, and what came back meanwhile.
  expect(passed).toBeGreaterThanOrEqual(100);
  expect(passed).toBeLessThanOrEqual(100 + Math.ceil((performance.now() - from) / 100));
});

describe('a rate of tokens', () => {
  it('takes an estimate, and then what the upstream reports', async () => {
    const first = await whole(await chat('tokens', { user: '150' }));
    expect(first.status).toBe(200);
    const refused = await chat('tokens');
    expect(refused.status).toBe(429);
    const body = (await refused.json()) as { readonly error: object };
    expect(body.error).toMatchObject({ type: 'tokens', code: 'rate_limit_exceeded' });
    // 100 tokens fit at once and 150 were used: about 70 must come back, at ten a second.
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(6);
  });
});

describe('a limit of a target', () => {
  it('falls through to the next target, without a retry and without a breaker', async () => {
    const ask = () => chat('free', { model: 'm' }, { 'x-gateway-config': 'falls' });
    const before = upstream.seen.length;
    const replies = [await whole(await ask()), await whole(await ask()), await whole(await ask())];
    expect(replies.map(({ status, headers }) => [status, headers.get('x-gateway-provider')])).toEqual([
      [200, 'tight'],
      [200, 'sim'],
      [200, 'sim'],
    ]);
    expect(upstream.seen.length - before).toBe(3);
    const metrics = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
    expect(metrics).toMatch(/^gatehouse_upstream_target_healthy\{.*provider="tight".*\} 1$/m);
  });

  it('is a 429 without another target, which says nothing about other callers', async () => {
    const ask = () => chat('free', { model: '@alone/few-1' });
    expect((await whole(await ask())).status).toBe(200);
    const refused = await ask();
    expect(refused.status).toBe(429);
    expect(rateHeaders(refused)).toEqual({});
    expect(await refused.json()).toMatchObject({
      error: {
        message: expect.stringMatching(
          /^Rate limit reached: the target of this request takes no more for now\. Please try again in [\d.]+s\.$/,
        ),
        code: 'rate_limit_exceeded',
      },
    });
    expect((await chat('free', { model: '@alone/many' })).status).toBe(200);
  });

  it('is one of a key for some models, and leaves it the others', async () => {
    const big = () => chat('opus', { model: '@sim/big-1' });
    expect([(await whole(await big())).status, (await big()).status]).toEqual([200, 429]);
    expect((await chat('opus', { model: '@sim/small' })).status).toBe(200);
  });
});

it('requests without a valid key are refused by their address, and those with one never', async () => {
  const guarded = await startTestGateway({ server: { limits: { unauthenticated: '12/min' } } });
  const ask = (key: string) =>
    fetch(`${guarded.url}/v1/models`, { headers: { 'x-gateway-api-key': key } }).then(async (response) => {
      await response.text();
      return response;
    });
  const wrong = ['wrong-1', 'wrong-2', 'wrong-3'];
  const statuses: number[] = [];
  for (const key of [...wrong, KEY]) statuses.push((await ask(key)).status);
  const refused = await ask('wrong-4');
  expect([...statuses, refused.status]).toEqual([401, 401, 429, 200, 429]);
  expect(refused.headers.get('retry-after')).toMatch(/^[45]$/);
  const metrics = await (await fetch(`${guarded.statusUrl}/metrics`)).text();
  expect(metrics).toMatch(/^gatehouse_rate_limit_refusals_total\{node="address",limit="requests"\} 2$/m);
  await guarded.close();
});

describe('the vendors’ own clients', () => {
  it('of OpenAI reads the wait and the limits, and waits for a place', async () => {
    const strict = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: keyOf('openai7'), maxRetries: 0 });
    const ask = { model: '@sim/m', messages: [{ role: 'user' as const, content: 'hi' }] };
    const { response } = await strict.chat.completions.create(ask).withResponse();
    expect(response.headers.get('x-ratelimit-remaining-requests')).toBe('0');
    const refused = await strict.chat.completions.create(ask).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RateLimitError);
    expect(refused).toMatchObject({ status: 429, code: 'rate_limit_exceeded', type: 'requests' });

    const patient = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: keyOf('patient') });
    const stream = await chat('patient', { stream: true });
    const waiting = patient.chat.completions.create(ask);
    setTimeout(() => endStreams.splice(0).forEach((end) => end()), 100);
    await stream.arrayBuffer();
    expect((await waiting).choices[0]?.message.content).toBe('Hello');
  });

  it('of Anthropic reads the wait and the limits', async () => {
    const client = new Anthropic({ baseURL: gateway.url, apiKey: keyOf('claude'), maxRetries: 0 });
    const ask = { model: '@sim/m', max_tokens: 9, messages: [{ role: 'user' as const, content: 'hi' }] };
    const { response } = await client.messages.create(ask).withResponse();
    expect(response.headers.get('anthropic-ratelimit-requests-limit')).toBe('6');
    const refused = await client.messages.create(ask).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Anthropic.RateLimitError);
    const { headers } = refused as InstanceType<typeof Anthropic.RateLimitError>;
    expect([headers?.get('retry-after'), headers?.get('anthropic-ratelimit-requests-remaining')]).toEqual(['10', '0']);
  });

  it('of Google reads the status and the words', async () => {
    const client = new GoogleGenAI({ apiKey: keyOf('google'), httpOptions: { baseUrl: gateway.url } });
    const ask = { model: '@sim/m', contents: 'hi' };
    await client.models.generateContent(ask);
    const refused = await client.models.generateContent(ask).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ApiError);
    expect(refused).toMatchObject({ status: 429, message: expect.stringContaining('RESOURCE_EXHAUSTED') });
  });
});
