import { describe, expect, it } from 'vitest';
import { KEY, type TestGateway } from '../support/gateway.ts';
import { startPair } from '../support/pair.ts';
import {
  anthropicEvents,
  anthropicReply,
  geminiReply,
  json,
  openaiReply,
  sse,
  type Script,
  type ScriptedUpstream,
} from '../support/upstream.ts';

/** What `/v1/messages` refuses, and what it gives again. */

let gateway: TestGateway;
let upstream: ScriptedUpstream;

async function start(script: Script, configs: Record<string, object> = {}): Promise<void> {
  ({ upstream, gateway } = await startPair(script, { gateway: configs }));
}

const CLAUDE = '@claude/claude-sonnet-4-5';
const GEMINI = '@gemini/gemini-2.5-flash';
const OPENAI = '@openai/gpt-x';
const ask = { model: CLAUDE, max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] };

interface Post {
  readonly path?: string;
  readonly headers?: Record<string, string>;
}

function post(body: object | string, { path = '/v1/messages', headers = {} }: Post = {}): Promise<Response> {
  return fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': KEY, authorization: 'Bearer ya29.t', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

interface Envelope {
  readonly type: string;
  readonly error: { readonly type: string; readonly message: string };
  readonly request_id: string;
}

describe('an error of /v1/messages', () => {
  const google = (status: string, code: number) => ({ error: { code, status, message: 'no' } });
  const openai = (type: string, code: string | null = null) => ({ error: { message: 'no', type, code, param: null } });
  const anthropic = (type: string) => ({ type: 'error', error: { type, message: 'no' }, request_id: 'req_up' });

  it.each<[string, string, object, number, number, string]>([
    ['Google refuses the request', GEMINI, google('INVALID_ARGUMENT', 400), 400, 400, 'invalid_request_error'],
    ['Google refuses who asks', GEMINI, google('PERMISSION_DENIED', 403), 403, 403, 'permission_error'],
    ['Google has no such model', GEMINI, google('NOT_FOUND', 404), 404, 404, 'not_found_error'],
    ['Google’s quota is used up', GEMINI, google('RESOURCE_EXHAUSTED', 429), 429, 429, 'rate_limit_error'],
    ['Google fails', GEMINI, google('INTERNAL', 500), 500, 500, 'api_error'],
    ['Google is overloaded', GEMINI, google('UNAVAILABLE', 503), 503, 529, 'overloaded_error'],
    ['Google is too slow', GEMINI, google('DEADLINE_EXCEEDED', 504), 504, 504, 'timeout_error'],
    ['OpenAI refuses the request', OPENAI, openai('invalid_request_error'), 400, 400, 'invalid_request_error'],
    [
      'OpenAI has no such model',
      OPENAI,
      openai('invalid_request_error', 'model_not_found'),
      404,
      404,
      'not_found_error',
    ],
    ['OpenAI reports a conflict', OPENAI, openai('invalid_request_error'), 409, 409, 'conflict_error'],
    ['OpenAI’s limit is reached', OPENAI, openai('requests', 'rate_limit_exceeded'), 429, 429, 'rate_limit_error'],
    ['OpenAI fails', OPENAI, openai('server_error'), 500, 500, 'api_error'],
    ['Claude refuses the request', CLAUDE, anthropic('invalid_request_error'), 400, 400, 'invalid_request_error'],
    ['Claude has no such model', CLAUDE, anthropic('not_found_error'), 404, 404, 'not_found_error'],
    ['Claude finds it too large', CLAUDE, anthropic('request_too_large'), 413, 413, 'request_too_large'],
    ['Claude is overloaded', CLAUDE, anthropic('overloaded_error'), 529, 529, 'overloaded_error'],
    ['Claude’s account is empty', CLAUDE, anthropic('billing_error'), 402, 402, 'billing_error'],
  ])('when %s is in Anthropic’s words, with our id', async (_, model, body, status, expected, type) => {
    await start((_request, res) => json(res, body, status));
    for (const stream of [false, true]) {
      const answer = await post({ ...ask, model, stream });
      const envelope = (await answer.json()) as Envelope;
      expect([answer.status, envelope.type, envelope.error.type]).toEqual([expected, 'error', type]);
      expect(envelope.error.message).toContain('no');
      expect(envelope.request_id).toBe(answer.headers.get('x-gateway-request-id'));
    }
  });

  it.each<[string, object | string, Post, number, string, string]>([
    ['no key', ask, { headers: { 'x-api-key': '', authorization: '' } }, 401, 'authentication_error', 'x-api-key'],
    [
      'a wrong key',
      ask,
      { headers: { 'x-api-key': 'nobodys', authorization: '' } },
      401,
      'authentication_error',
      'key',
    ],
    ['no JSON', '{"model":', {}, 400, 'invalid_request_error', 'JSON'],
    ['no messages', { model: CLAUDE }, {}, 400, 'invalid_request_error', '`messages` is required'],
    ['no model', { messages: [] }, {}, 400, 'invalid_request_error', '`model` is required'],
    ['a wrong type', { ...ask, max_tokens: '10' }, {}, 400, 'invalid_request_error', '`max_tokens`'],
    ['a message that is none', { ...ask, messages: ['hi'] }, {}, 400, 'invalid_request_error', '`messages[0]`'],
    [
      'a block without a type',
      { ...ask, messages: [{ role: 'user', content: [{}] }] },
      {},
      400,
      'invalid_request_error',
      '`messages[0].content[0].type`',
    ],
    ['an unknown provider', { ...ask, model: '@nobody/m' }, {}, 400, 'invalid_request_error', 'nobody'],
    ['a path under it', ask, { path: '/v1/messages/nowhere' }, 404, 'not_found_error', '/v1/messages/nowhere'],
  ])('of %s precedes any call of an upstream', async (_, body, how, status, type, words) => {
    await start((_request, res) => json(res, anthropicReply('ok')));
    const answer = await post(body, how);
    expect(answer.status).toBe(status);
    expect(upstream.seen).toEqual([]);
    const envelope = (await answer.json()) as Envelope;
    expect(envelope).toMatchObject({
      type: 'error',
      error: { type },
      request_id: answer.headers.get('x-gateway-request-id'),
    });
    expect(envelope.error.message).toContain(words);
  });

  it('of an upstream in the middle of a stream has our id, whatever the upstream’s is', async () => {
    await start((_request, res) =>
      sse(res, [
        ...anthropicEvents('Hel').slice(0, 3),
        { type: 'error', error: { type: 'overloaded_error', message: 'busy' }, request_id: 'req_up' },
      ]),
    );
    const answer = await post({ ...ask, stream: true });
    const text = await answer.text();
    const id = answer.headers.get('x-gateway-request-id');
    expect(text).toMatch(/event: error\ndata: (\{.*\})\n\n$/);
    expect(JSON.parse(/event: error\ndata: (\{.*\})\n\n$/.exec(text)![1]!)).toMatchObject({
      type: 'error',
      error: { type: 'overloaded_error', message: expect.stringContaining('busy') },
      request_id: id,
    });
    expect(text).not.toContain('req_up');
  });
});

describe('messages_route: claude', () => {
  const configs = {
    only: { messages_route: 'claude' },
    nested: {
      messages_route: 'claude',
      strategy: { mode: 'fallback' },
      targets: [{ provider: '@openai', messages_route: 'any' }, { provider: '@openai' }],
    },
    loose: { messages_route: 'any' },
  };
  const script: Script = (request, res) =>
    request.url.includes('generateContent')
      ? json(res, geminiReply('ok'))
      : json(res, request.url.includes('chat') ? openaiReply('ok') : anthropicReply('ok'));
  const via = (config: string) => ({ headers: { 'x-gateway-config': config } });

  it('serves Claude on both upstreams, and refuses other models with the way to go', async () => {
    await start(script, configs);
    expect((await post(ask, via('only'))).status).toBe(200);
    expect((await post({ ...ask, model: '@gemini/anthropic.claude-sonnet-4-5' }, via('only'))).status).toBe(200);
    for (const model of [GEMINI, OPENAI]) {
      const seen = upstream.seen.length;
      const answer = await post({ ...ask, model }, via('only'));
      expect(answer.status).toBe(400);
      expect(((await answer.json()) as Envelope).error).toMatchObject({
        type: 'invalid_request_error',
        message: expect.stringContaining('/v1/chat/completions'),
      });
      expect(upstream.seen.length).toBe(seen);
      expect((await post({ ...ask, model }, { ...via('only'), path: '/v1/chat/completions' })).status).toBe(200);
    }
  });

  it('is inherited by targets, which may say otherwise, and is off by default', async () => {
    await start(script, configs);
    expect((await post({ ...ask, model: 'm' }, via('nested'))).status).toBe(200);
    expect((await post({ ...ask, model: OPENAI }, via('loose'))).status).toBe(200);
    expect((await post({ ...ask, model: OPENAI })).status).toBe(200);
  });
});

describe('a kept reply', () => {
  const CACHED = {
    cached: { cache: { mode: 'exact', max_age: 60 } },
    restricted: { cache: { mode: 'exact' }, messages_route: 'claude' },
  };
  const counting: Script = (request, res, index) => {
    const text = `answer ${index + 1}`;
    const stream = request.json['stream'] === true;
    if (request.url.includes('streamGenerateContent'))
      return sse(res, [`data: ${JSON.stringify(geminiReply(text))}\n\n`]);
    if (request.url.includes('generateContent')) return json(res, geminiReply(text));
    return stream ? sse(res, anthropicEvents(text)) : json(res, anthropicReply(text));
  };
  const cached = (headers: Record<string, string> = {}, path?: string): Post => ({
    headers: { 'x-gateway-config': 'cached', ...headers },
    ...(path && { path }),
  });
  const said = async (answer: Response): Promise<[string | null, string | undefined]> => [
    answer.headers.get('x-gateway-cache-status'),
    /answer \d+/.exec(await answer.text())?.[0],
  ];

  it.each([CLAUDE, GEMINI])('of %s answers the same request, plain and as a stream', async (model) => {
    await start(counting, CACHED);
    expect(await said(await post({ ...ask, model }, cached()))).toEqual(['MISS', 'answer 1']);
    expect(await said(await post({ ...ask, model }, cached()))).toEqual(['HIT', 'answer 1']);
    const streamed = await post({ ...ask, model, stream: true }, cached());
    expect(streamed.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const text = await streamed.text();
    expect([...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name)).toEqual([
      'message_start',
      'ping',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(text).toContain('answer 1');
    expect(upstream.seen.length).toBe(1);
  });

  it.each([CLAUDE, GEMINI])('that was a stream of %s is a body too', async (model) => {
    await start(counting, CACHED);
    expect(await said(await post({ ...ask, model, stream: true }, cached()))).toEqual(['MISS', 'answer 1']);
    expect(await said(await post({ ...ask, model, stream: true }, cached()))).toEqual(['HIT', 'answer 1']);
    const plain = await post({ ...ask, model }, cached());
    expect(await plain.json()).toMatchObject({
      type: 'message',
      content: [{ type: 'text', text: 'answer 1' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 3, output_tokens: 2 },
    });
    expect(upstream.seen.length).toBe(1);
  });

  it('keeps thoughts through both forms', async () => {
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
      { type: 'text', text: 'x', citations: null },
    ];
    await start((_request, res) => json(res, { ...anthropicReply(''), content }), CACHED);
    await (await post(ask, cached())).text();
    const text = await (await post({ ...ask, stream: true }, cached())).text();
    expect(text).toContain('"thinking_delta","thinking":"Hm."');
    expect(text).toContain('"signature_delta","signature":"c2ln"');
  });

  it.each<[string, Post]>([
    ['the chat route', { path: '/v1/chat/completions' }],
    ['another beta', { headers: { 'anthropic-beta': 'a-1' } }],
    ['the gateway’s beta header', { headers: { 'x-gateway-anthropic-beta': 'a-1' } }],
    ['the neutral beta header', { headers: { 'x-gateway-familya-beta': 'a-1' } }],
    ['another version', { headers: { 'anthropic-version': '2026-10-21' } }],
  ])('is not given to a request by %s', async (_, { path, headers }) => {
    await start(counting, CACHED);
    await (await post(ask, cached())).text();
    expect(await said(await post(ask, cached(headers, path)))).toEqual(['MISS', 'answer 2']);
    expect(await said(await post(ask, cached()))).toEqual(['HIT', 'answer 1']);
  });

  it('is not given where the config has no place for its model', async () => {
    await start(counting, CACHED);
    await (await post({ ...ask, model: GEMINI }, cached())).text();
    expect((await post({ ...ask, model: GEMINI }, { headers: { 'x-gateway-config': 'restricted' } })).status).toBe(400);
  });
});
