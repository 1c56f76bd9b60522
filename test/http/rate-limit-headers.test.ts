import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { anthropicReply, entriesFor, json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

/** Limits of an account at Claude: the gateway's (`@claude`, with its key) and the caller's own (`@gemini`, with the caller's token). */

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let status = 200;

beforeAll(async () => {
  upstream = await startUpstream((_request, res) =>
    json(
      res,
      status === 200 ? anthropicReply('ok') : { type: 'error', error: { type: 'rate_limit_error', message: 'slow' } },
      status,
      {
        'retry-after': '17',
        'anthropic-ratelimit-requests-remaining': '7',
        'anthropic-ratelimit-unified-status': 'rejected',
        'x-ratelimit-limit-tokens': '1000',
      },
    ),
  );
  gateway = await startTestGateway({ catalog: { providers: entriesFor(upstream.url) } });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const SHORT = { max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] };

/** A request of each API, and the limits that it has words for. */
const CLIENTS: Readonly<
  Record<string, { readonly ask: (model: string) => Promise<Response>; readonly limits: object }>
> = {
  chat: {
    ask: (model) => post('/v1/chat/completions', { model, ...SHORT }),
    limits: { 'x-ratelimit-remaining-requests': '7' },
  },
  responses: {
    ask: (model) => post('/v1/responses', { model, input: 'hi' }),
    limits: { 'x-ratelimit-remaining-requests': '7' },
  },
  messages: {
    ask: (model) => post('/v1/messages', { model, ...SHORT }),
    limits: { 'anthropic-ratelimit-requests-remaining': '7', 'anthropic-ratelimit-unified-status': 'rejected' },
  },
  gemini: {
    ask: (model) =>
      post(`/v1beta/models/${encodeURIComponent(model)}:generateContent`, { contents: [{ parts: [{ text: 'hi' }] }] }),
    limits: {},
  },
};

const post = (path: string, body: object): Promise<Response> =>
  fetch(gateway.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gateway-api-key': KEY,
      authorization: 'Bearer ya29.callers-own',
    },
    body: JSON.stringify(body),
  });

const limitsOf = ({ headers }: Response): object =>
  Object.fromEntries([...headers].filter(([name]) => /^(?:anthropic|x)-ratelimit-(?!limit-tokens)/.test(name)));

describe.each(Object.entries(CLIENTS))('a client of %s', (_client, { ask, limits }) => {
  it.each([200, 429])('gets the limits of its own account in a %d in its own words', async (code) => {
    status = code;
    const response = await ask('@gemini/anthropic.claude-opus-5');
    expect([response.status, limitsOf(response)]).toEqual([code, limits]);
    expect(response.headers.get('retry-after')).toBe('17');
  });

  it.each([200, 429])('gets no limits of the gateway’s account in a %d, and the time to wait', async (code) => {
    status = code;
    const response = await ask('@claude/claude-opus-5');
    expect([response.status, limitsOf(response)]).toEqual([code, {}]);
    expect(response.headers.get('retry-after')).toBe('17');
  });
});
