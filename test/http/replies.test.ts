import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { KEY, until, type TestGateway, type TestSettings } from '../support/gateway.ts';
import { startPair } from '../support/pair.ts';
import {
  anthropicEvents,
  anthropicReply,
  json,
  openaiChunk,
  openaiReply,
  sse,
  type Script,
  type ScriptedUpstream,
} from '../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;

async function start(script: Script, settings: TestSettings = {}): Promise<void> {
  ({ upstream, gateway } = await startPair(script, settings));
}

async function send(
  body: object,
  headers: Record<string, string> = {},
): Promise<{ response: IncomingMessage; text: Promise<string> }> {
  const request = httpRequest(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, ...headers },
  });
  request.end(JSON.stringify({ max_tokens: 5, messages: [{ role: 'user', content: 'hi' }], ...body }));
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const text = (async () => {
    let all = '';
    for await (const piece of response) all += String(piece);
    return all;
  })();
  return { response, text };
}

const CLAUDE = '@claude/claude-3-5-haiku-20241022';

describe('a reply', () => {
  it('says how long it is when it is plain', async () => {
    await start((_, res) => json(res, anthropicReply('Grüße')));
    const { response, text } = await send({ model: CLAUDE });
    expect(response.headers['content-length']).toBe(String(Buffer.byteLength(await text)));
    expect(response.headers['transfer-encoding']).toBeUndefined();
  });

  it('is an event stream when it streams, and may not be cached', async () => {
    await start((_, res) => sse(res, anthropicEvents('hi')));
    const { response, text } = await send({ model: CLAUDE, stream: true });
    expect(response.headers).toMatchObject({ 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    await text;
  });

  it('carries the headers that explain it', async () => {
    await start((_, res) => json(res, anthropicReply('hi')));
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const { response } = await send({ model: CLAUDE }, { 'x-request-id': 'my-id-1', traceparent });
    expect(response.headers).toMatchObject({
      'x-gateway-request-id': 'my-id-1',
      'x-gateway-trace-id': '4bf92f3577b34da6a3ce929d0e0e4736',
      'x-gateway-provider': 'claude',
      'x-gateway-last-used-option-index': 'config',
      'x-gateway-retry-attempt-count': '0',
    });
    const { response: other } = await send({ model: CLAUDE }, { 'x-request-id': 'not an id' });
    expect(other.headers['x-gateway-request-id']).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });

  it('uses the prefixes of the settings', async () => {
    await start((_, res) => json(res, openaiReply('hi')), { server: { header_prefixes: ['x-acme-', 'x-gateway-'] } });
    const { response } = await send({ model: 'm' }, { 'x-acme-provider': '@openai' });
    expect(response.statusCode).toBe(200);
    expect(response.headers['x-acme-provider']).toBe('openai');
  });

  it('of the same format is the upstream’s, byte for byte', async () => {
    const odd =
      ' { "id":"x" ,"object":"chat.completion","created":1,"model":"m","choices":[ {"index":0,"message":{"role":"assistant","content":"h\\u0069"},"finish_reason":"stop","new_field":1.50} ] } ';
    await start((_, res) => void res.writeHead(200, { 'content-type': 'application/json' }).end(odd));
    expect(await (await send({ model: '@openai/m' })).text).toBe(odd);
  });

  it('of the same format streams the upstream’s bytes, without unrequested usage', async () => {
    const events = [
      openaiChunk({ role: 'assistant', content: '' }),
      openaiChunk({ content: 'a "usage" of words' }),
      openaiChunk({}, 'stop'),
    ];
    const usage = {
      ...openaiChunk({}),
      choices: [],
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    };
    await start((_, res) => sse(res, [...events, usage, 'data: [DONE]\n\n']));
    const plain = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    expect(await (await send({ model: '@openai/m', stream: true })).text).toBe(`${plain}data: [DONE]\n\n`);
    expect(await (await send({ model: '@openai/m', stream: true, stream_options: { include_usage: true } })).text).toBe(
      `${plain}data: ${JSON.stringify(usage)}\n\ndata: [DONE]\n\n`,
    );
    expect(upstream.seen.map(({ json: body }) => body['stream_options'])).toEqual([
      { include_usage: true },
      { include_usage: true },
    ]);
  });

  it('begins to leave with its first content, not at its end', async () => {
    let finish: (() => void) | undefined;
    await start(async (_, res) => {
      await sse(res, anthropicEvents('first').slice(0, 3), false);
      finish = () => void sse(res, []).catch(() => {});
      await new Promise<void>((resolve) => (finish = resolve));
      for (const event of anthropicEvents('first').slice(3))
        res.write(`event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`);
      res.end();
    });
    const { response, text } = await send({ model: CLAUDE, stream: true });
    expect(response.statusCode).toBe(200);
    finish!();
    expect(await text).toMatch(/first[\s\S]*\[DONE\]/);
  });

  it('waits for content no longer than the hold: then its head leaves, and a failure is an error event', async () => {
    await start(
      async (_, res) => {
        await sse(res, anthropicEvents('x').slice(0, 2), false);
        setTimeout(() => res.destroy(), 150);
      },
      { server: { limits: { hold_time: '50ms' } } },
    );
    const { response, text } = await send({ model: CLAUDE, stream: true });
    expect(response.statusCode).toBe(200);
    expect(await text).toContain('"stream_interrupted"');
  });

  it('is refused as too large when it would not fit in memory', async () => {
    await start((_, res) => json(res, anthropicReply('x'.repeat(300_000))), { server: { limits: { reply: '64KiB' } } });
    const { response, text } = await send({ model: CLAUDE });
    expect([response.statusCode, JSON.parse(await text)]).toMatchObject([502, { error: { code: 'reply_too_large' } }]);
  });

  it.each([
    ['a page', (res) => void res.writeHead(200, { 'content-type': 'text/html' }).end('<html>'), 'upstream_error'],
    [
      'half a document',
      (res) => void res.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"msg'),
      'upstream_error',
    ],
    ['nothing', (res) => void res.writeHead(200, { 'content-type': 'application/json' }).end(), 'upstream_error'],
    ['a redirect', (res) => void res.writeHead(307, { location: 'http://169.254.169.254/' }).end(), 'upstream_error'],
  ] as [string, (res: Parameters<Script>[1]) => void, string][])(
    'that is %s is a 502 that says so',
    async (_, answer, code) => {
      await start((_request, res) => answer(res));
      const { response, text } = await send({ model: CLAUDE });
      expect([response.statusCode, JSON.parse(await text)]).toMatchObject([502, { error: { code } }]);
      expect(upstream.seen.length).toBe(1);
    },
  );
});

describe('what is recorded', () => {
  it('is one line per request when its reply has ended, with tokens, target and timing', async () => {
    await start((_, res) => sse(res, anthropicEvents('hi')));
    await (
      await send({ model: CLAUDE, stream: true, seed: 1 }, { 'x-request-id': 'r1', 'user-agent': 'test/1' })
    ).text;
    await until(() => gateway.logs.length > 0, 'the line was written');
    expect(gateway.logs).toHaveLength(1);
    expect(gateway.logs[0]).toMatchObject({
      level: 'info',
      request_id: 'r1',
      method: 'POST',
      route: '/v1/chat/completions',
      status: 200,
      stream: true,
      key_id: 'test',
      provider: 'claude',
      request_model: 'claude-3-5-haiku-20241022',
      tokens: { input: 3, output: 2 },
    });
  });

  it('is in the metrics, tokens of a passed-through stream included', async () => {
    await start((_, res) =>
      sse(res, [
        openaiChunk({ content: 'x' }),
        openaiChunk({}, 'stop'),
        { ...openaiChunk({}), choices: [], usage: { prompt_tokens: 11, completion_tokens: 22, total_tokens: 33 } },
        'data: [DONE]\n\n',
      ]),
    );
    await (
      await send({ model: '@openai/gpt-4o', stream: true })
    ).text;
    await until(() => gateway.logs.length > 0, 'the request was recorded');
    const metrics = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
    expect(metrics).toMatch(/gatehouse_requests_total\{[^}]*status_class="2xx"[^}]*\} 1/);
    expect(metrics).toMatch(/gatehouse_tokens_total\{[^}]*type="input"[^}]*\} 11/);
    expect(metrics).toMatch(/gatehouse_tokens_total\{[^}]*type="output"[^}]*\} 22/);
    expect(metrics).toMatch(/gatehouse_requests_in_flight\{[^}]*\} 0/);
    for (const path of ['/livez', '/readyz']) expect((await fetch(gateway.statusUrl + path)).status).toBe(200);
  });
});
