import { describe, expect, it } from 'vitest';
import { KEY, until, type TestGateway, type TestSettings } from '../support/gateway.ts';
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

let upstream: ScriptedUpstream;
let gateway: TestGateway;

async function start(script: Script, settings: TestSettings = {}, entry: object = {}): Promise<void> {
  ({ upstream, gateway } = await startPair(script, { entry, ...settings }));
}

const messages = [{ role: 'user', content: 'hi' }];

interface Reply {
  readonly choices?: { readonly message: { readonly content: string } }[];
  readonly error?: { readonly code: string; readonly message: string };
}

async function chat(body: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, ...headers },
    body: JSON.stringify({ max_tokens: 5, messages, ...body }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: text.startsWith('{') ? (JSON.parse(text) as Reply) : {},
  };
}

const config = (one: object): TestSettings => ({ gateway: { it: one } });
const useIt = { 'x-gateway-config': 'it' };
const busy =
  (status: number, headers: Record<string, string> = {}): Script =>
  (_, res) =>
    json(res, { error: { message: `no ${status}` } }, status, headers);

describe('where a request goes', () => {
  const echo: Script = (request, res) =>
    json(
      res,
      request.url.includes('messages')
        ? anthropicReply('claude')
        : request.url.includes('generateContent')
          ? geminiReply('gemini')
          : openaiReply('openai'),
    );

  it.each([
    [
      'the slug in the model',
      { model: '@claude/claude-3-5-haiku-20241022' },
      {},
      '/v1/messages',
      'claude-3-5-haiku-20241022',
    ],
    [
      'the header with a slug',
      { model: 'claude-3-5-haiku-20241022' },
      { 'x-gateway-provider': '@claude' },
      '/v1/messages',
      'claude-3-5-haiku-20241022',
    ],
    [
      'the header with a provider name',
      { model: 'claude-3-5-haiku-20241022' },
      { 'x-gateway-provider': 'anthropic' },
      '/v1/messages',
      'claude-3-5-haiku-20241022',
    ],
    [
      'the slug over the header',
      { model: '@claude/claude-3-5-haiku-20241022' },
      { 'x-gateway-provider': '@openai' },
      '/v1/messages',
      'claude-3-5-haiku-20241022',
    ],
    [
      'a dated model of Vertex',
      { model: '@gemini/anthropic.claude-3-5-haiku@20241022' },
      { authorization: 'Bearer t' },
      '/v1/projects/test-project/locations/us-central1/publishers/anthropic/models/claude-3-5-haiku@20241022:rawPredict',
      undefined,
    ],
    [
      'the neutral family prefix',
      { model: '@gemini/familya.claude-3-5-haiku@20241022' },
      { authorization: 'Bearer t' },
      '/v1/projects/test-project/locations/us-central1/publishers/anthropic/models/claude-3-5-haiku@20241022:rawPredict',
      undefined,
    ],
    [
      'Gemini with its dots',
      { model: '@gemini/gemini-2.5-flash' },
      { authorization: 't' },
      '/v1/projects/test-project/locations/us-central1/publishers/google/models/gemini-2.5-flash:generateContent',
      undefined,
    ],
  ])('is set by %s', async (_, body, headers, path, model) => {
    await start((request, res) =>
      request.url.includes('rawPredict') ? json(res, anthropicReply('claude')) : echo(request, res, 0),
    );
    expect((await chat(body, headers)).status).toBe(200);
    expect(upstream.seen[0]).toMatchObject({ url: path });
    expect(upstream.seen[0]!.json['model']).toBe(model);
  });

  it('is set by the key’s default config, then by the server’s', async () => {
    await start(echo, {
      server: { default_config: 'server-wide' },
      keys: {
        keys: [
          { id: 'a', key: '${env:NONE:-key-a-0123456789}', default_config: 'of-key' },
          { id: 'b', key: '${env:NONE:-key-b-0123456789}' },
        ],
      },
      gateway: {
        'of-key': { provider: '@claude', override_params: { model: 'claude-3-5-haiku-20241022' } },
        'server-wide': { provider: '@openai', override_params: { model: 'gpt' } },
      },
    });
    expect(
      (await chat({ model: 'x' }, { 'x-gateway-api-key': 'key-a-0123456789' })).headers.get('x-gateway-provider'),
    ).toBe('claude');
    expect(
      (await chat({ model: 'x' }, { 'x-gateway-api-key': 'key-b-0123456789' })).headers.get('x-gateway-provider'),
    ).toBe('openai');
    expect(
      (
        await chat({ model: 'x' }, { 'x-gateway-api-key': 'key-b-0123456789', 'x-gateway-config': 'of-key' })
      ).headers.get('x-gateway-provider'),
    ).toBe('claude');
  });

  it('with its model overridden and every other byte as it came, where both sides speak the same', async () => {
    await start(
      echo,
      config({ provider: '@openai', override_params: { model: 'better', temperature: 0.5, logit_bias: { a: 1 } } }),
    );
    await chat({ model: 'asked', wishes: { deep: [1.5] }, logit_bias: { b: 2 } }, useIt);
    expect(upstream.seen[0]!.json).toEqual({
      max_tokens: 5,
      messages,
      model: 'better',
      wishes: { deep: [1.5] },
      temperature: 0.5,
      logit_bias: { a: 1, b: 2 },
    });
  });

  it('is a conflict when model and config name different entries', async () => {
    await start(echo, config({ provider: '@openai' }));
    expect(await chat({ model: '@claude/claude-3' }, useIt)).toMatchObject({
      status: 400,
      json: { error: { code: 'provider_conflict' } },
    });
  });
});

describe('the gateway key', () => {
  const ok: Script = (_, res) => json(res, openaiReply('ok'));
  it.each([
    ['x-gateway-api-key', { 'x-gateway-api-key': KEY }],
    ['Authorization: Bearer', { authorization: `Bearer ${KEY}` }],
    ['Authorization alone', { authorization: KEY }],
    ['x-api-key', { 'x-api-key': KEY }],
  ])('is found in %s and never travels upstream', async (_, headers) => {
    await start(ok);
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(headers as Record<string, string>) },
      body: JSON.stringify({ model: '@openai/m', messages }),
    });
    expect(response.status).toBe(200);
    expect(JSON.stringify(upstream.seen[0]!.headers)).not.toContain(KEY);
    expect(Object.keys(upstream.seen[0]!.headers).sort()).toEqual([
      'accept-encoding',
      'connection',
      'content-length',
      'content-type',
      'host',
    ]);
  });

  it('beside the caller’s own token lets that token reach Vertex, with or without Bearer', async () => {
    await start((_, res) => json(res, geminiReply('hi')));
    for (const authorization of ['ya29.caller-token', 'Bearer ya29.caller-token'])
      await chat({ model: '@gemini/gemini-2.5-flash' }, { authorization });
    expect(upstream.seen.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer ya29.caller-token',
      'Bearer ya29.caller-token',
    ]);
  });
});

describe('retry', () => {
  const twice = (retry: object) =>
    config({
      provider: '@openai',
      override_params: { model: 'm' },
      retry: { attempts: 2, min_delay: 1, max_delay: '1s', ...retry },
    });

  it('is off unless configured', async () => {
    await start(busy(503), config({ provider: '@openai' }));
    expect(await chat({ model: 'm' }, useIt)).toMatchObject({ status: 503 });
    expect(upstream.seen.length).toBe(1);
  });

  it('sends the same bytes again and tells how often', async () => {
    await start(
      (request, res, index) => (index < 2 ? busy(503)(request, res, index) : json(res, openaiReply('third time'))),
      twice({}),
    );
    const answer = await chat({ model: 'm' }, useIt);
    expect(answer.json.choices?.[0]?.message.content).toBe('third time');
    expect(answer.headers.get('x-gateway-retry-attempt-count')).toBe('2');
    expect(new Set(upstream.seen.map(({ text }) => text)).size).toBe(1);
  });

  it('gives the last failure when all tries failed, and tells SDKs not to multiply it', async () => {
    await start(busy(500), twice({}));
    const answer = await chat({ model: 'm' }, useIt);
    expect(answer).toMatchObject({ status: 500, json: { error: { message: expect.stringContaining('no 500') } } });
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(upstream.seen.length).toBe(3);
  });

  it.each([
    [400, 400],
    // The caller is not to blame for the entry's credential.
    [401, 502],
    [404, 404],
    [422, 422],
  ])('does not repeat a %i, and the client sees %i', async (status, seen) => {
    await start(busy(status), twice({}));
    expect((await chat({ model: 'm' }, useIt)).status).toBe(seen);
    expect(upstream.seen.length).toBe(1);
  });

  it('repeats only the configured statuses', async () => {
    await start(busy(503), twice({ on_status_codes: [429] }));
    await chat({ model: 'm' }, useIt);
    expect(upstream.seen.length).toBe(1);
  });

  it('waits as long as retry-after-ms says', async () => {
    const at: number[] = [];
    await start((request, res, index) => {
      at.push(performance.now());
      return index === 0 ? busy(429, { 'retry-after-ms': '120' })(request, res, index) : json(res, openaiReply('ok'));
    }, twice({}));
    expect((await chat({ model: 'm' }, useIt)).status).toBe(200);
    expect(at[1]! - at[0]!).toBeGreaterThanOrEqual(115);
  });

  it('gives up at once when the upstream asks for more than the cap, and passes the wait on', async () => {
    await start(busy(429, { 'retry-after': '60' }), twice({}));
    const answer = await chat({ model: 'm' }, useIt);
    expect([answer.status, answer.headers.get('retry-after'), upstream.seen.length]).toEqual([429, '60', 1]);
  });

  it.each([
    ['false', 1, 'false'],
    ['true', 3, 'false'],
    ['perhaps', 3, 'false'],
  ])('heeds an upstream that says x-should-retry: %s', async (said, tries, reported) => {
    await start(busy(503, { 'x-should-retry': said }), twice({}));
    const answer = await chat({ model: 'm' }, useIt);
    expect([answer.status, upstream.seen.length, answer.headers.get('x-should-retry')]).toEqual([503, tries, reported]);
  });

  it.each(['false', 'true'])('passes x-should-retry: %s on where nothing is repeated', async (said) => {
    await start(busy(503, { 'x-should-retry': said }), config({ provider: '@openai' }));
    expect((await chat({ model: 'm' }, useIt)).headers.get('x-should-retry')).toBe(said);
  });

  it('repeats a connection that is reset, and one that cannot be made', async () => {
    await start((_, res, index) => void (index === 0 ? res.destroy() : json(res, openaiReply('ok'))), twice({}));
    expect((await chat({ model: 'm' }, useIt)).status).toBe(200);
  });

  it('never repeats a stream that has begun', async () => {
    await start(
      (_, res) => sse(res, [...anthropicEvents('Hel').slice(0, 3), null]),
      config({ provider: '@claude', retry: { attempts: 3, min_delay: 1 } }),
    );
    const answer = await chat({ model: 'claude-3-5-haiku-20241022', stream: true }, useIt);
    expect(answer.text).toContain('"stream_interrupted"');
    expect(upstream.seen.length).toBe(1);
  });
});

describe('fallback', () => {
  const targets = [
    { provider: '@openai', override_params: { model: 'a' } },
    { provider: '@openai', override_params: { model: 'b' } },
    { provider: '@openai', override_params: { model: 'c' } },
  ];
  const byModel =
    (answers: Record<string, number>): Script =>
    (request, res, index) => {
      const status = answers[String(request.json['model'])] ?? 200;
      return status === 200 ? json(res, openaiReply(String(request.json['model']))) : busy(status)(request, res, index);
    };

  it('moves on until a target answers', async () => {
    await start(byModel({ a: 503, b: 429 }), config({ strategy: { mode: 'fallback' }, targets }));
    const answer = await chat({ model: 'm' }, useIt);
    expect(answer.json.choices?.[0]?.message.content).toBe('c');
    expect(answer.headers.get('x-gateway-last-used-option-index')).toBe('config.targets[2]');
  });

  it('stops at a failure that is the request’s own', async () => {
    await start(byModel({ a: 400 }), config({ strategy: { mode: 'fallback' }, targets }));
    expect((await chat({ model: 'm' }, useIt)).status).toBe(400);
    expect(upstream.seen.length).toBe(1);
  });

  it('falls through only on the configured statuses', async () => {
    await start(byModel({ a: 503 }), config({ strategy: { mode: 'fallback', on_status_codes: [429] }, targets }));
    expect((await chat({ model: 'm' }, useIt)).status).toBe(503);
  });

  it('nests, each group by its own rule', async () => {
    const inner = { strategy: { mode: 'fallback', on_status_codes: [503] }, targets: targets.slice(0, 2) };
    await start(
      byModel({ a: 503, b: 500 }),
      config({ strategy: { mode: 'fallback', on_status_codes: [500] }, targets: [inner, targets[2]!] }),
    );
    const answer = await chat({ model: 'm' }, useIt);
    expect(answer.headers.get('x-gateway-last-used-option-index')).toBe('config.targets[1]');
    expect(upstream.seen.map(({ json: body }) => body['model'])).toEqual(['a', 'b', 'c']);
  });

  it('crosses formats: from a broken Claude stream to Gemini, nothing of the first in the reply', async () => {
    await start(
      (request, res) =>
        request.url.includes('messages')
          ? sse(res, [...anthropicEvents('never').slice(0, 2), null])
          : sse(res, [geminiReply('rescued')]),
      config({
        strategy: { mode: 'fallback' },
        targets: [
          { provider: '@claude', override_params: { model: 'claude-3-5-haiku-20241022' } },
          { provider: '@gemini', override_params: { model: 'gemini-2.5-flash' } },
        ],
      }),
    );
    const answer = await chat({ model: 'm', stream: true }, { ...useIt, authorization: 'Bearer t' });
    expect(answer.text).toContain('rescued');
    expect(answer.text).not.toMatch(/never|msg_up|error/);
    expect(answer.text.match(/\[DONE\]/g)).toHaveLength(1);
  });

  it('inherits from the config around a target, the nearer winning field by field', async () => {
    await start(
      byModel({ a: 503 }),
      config({
        strategy: { mode: 'fallback' },
        provider: '@openai',
        override_params: { temperature: 0.1, metadata: { team: 'x', env: 'prod' } },
        retry: { attempts: 1, min_delay: 1 },
        targets: [
          { override_params: { model: 'a', metadata: { env: 'test' } } },
          { override_params: { model: 'b' }, retry: { attempts: 0 } },
        ],
      }),
    );
    await chat({ model: 'm' }, useIt);
    expect(upstream.seen.map(({ json: body }) => [body['model'], body['temperature'], body['metadata']])).toEqual([
      ['a', 0.1, { team: 'x', env: 'test' }],
      ['a', 0.1, { team: 'x', env: 'test' }],
      ['b', 0.1, { team: 'x', env: 'prod' }],
    ]);
  });
});

describe('timeouts name themselves', () => {
  const never: Script = () => {};
  const headOnly: Script = (_, res) => res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  const pinging: Script = (_, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of anthropicEvents('Hel').slice(0, 3))
      res.write(`event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`);
    const timer = setInterval(() => res.write('event: ping\ndata: {"type":"ping"}\n\n'), 5);
    res.on('close', () => clearInterval(timer));
  };

  it.each<[string, Script, object, boolean, string]>([
    ['first byte', never, { first_byte: 40 }, false, 'timeout_first_byte'],
    ['first content', headOnly, { first_content: 60 }, true, 'timeout_first_content'],
    ['total', never, { total: 50 }, false, 'timeout_total'],
  ])('%s: as a 504 while nothing has left', async (_, script, timeouts, stream, code) => {
    await start(script, config({ provider: '@claude', timeouts }));
    expect(await chat({ model: 'claude-3-5-haiku-20241022', stream }, useIt)).toMatchObject({
      status: 504,
      json: { error: { code } },
    });
    await until(() => upstream.seen.every(({ aborted }) => aborted), 'the upstream was let go');
  });

  it('total: pings reset idle only, and a stream that has begun ends with an error event', async () => {
    await start(pinging, config({ provider: '@claude', timeouts: { idle: 1000, total: 2500 } }));
    const answer = await chat({ model: 'claude-3-5-haiku-20241022', stream: true }, useIt);
    expect(answer.text).toContain('Hel');
    expect(answer.text).toContain('"timeout_total"');
    expect(answer.text).not.toContain('[DONE]');
    await until(() => upstream.seen[0]!.aborted, 'the upstream was let go');
  });

  it('request_timeout is the total, of each target', async () => {
    await start(
      (request, res) => (request.json['model'] === 'b' ? json(res, openaiReply('b')) : undefined),
      config({
        strategy: { mode: 'fallback' },
        provider: '@openai',
        request_timeout: 1000,
        targets: [{ override_params: { model: 'a' } }, { override_params: { model: 'b' } }],
      }),
    );
    expect((await chat({ model: 'm' }, useIt)).json.choices?.[0]?.message.content).toBe('b');
  });
});

describe('a kept-alive connection that has died', () => {
  it('is noticed and the request sent once more, without any retry configured', async () => {
    let kills = 1;
    await start(
      (_, res, index) => {
        if (index === 1 && kills-- > 0) return void res.socket?.destroy();
        return json(res, openaiReply(`reply ${index}`));
      },
      {},
      { connections: 1 },
    );
    expect((await chat({ model: '@openai/m' })).json.choices?.[0]?.message.content).toBe('reply 0');
    expect((await chat({ model: '@openai/m' })).json.choices?.[0]?.message.content).toBe('reply 2');
  });
});
