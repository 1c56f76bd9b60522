import { once } from 'node:events';
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import OpenAI, { APIError } from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, until, type TestGateway, type TestSettings } from '../support/gateway.ts';
import {
  anthropicEvents,
  anthropicReply,
  entriesFor,
  json,
  openaiChunk,
  openaiReply,
  sse,
  startUpstream,
  type Script,
  type ScriptedUpstream,
} from '../support/upstream.ts';

let upstream: ScriptedUpstream | undefined;
let gateway: TestGateway | undefined;
afterEach(async () => {
  await gateway?.close();
  await upstream?.close();
});

async function start(script: Script, settings: TestSettings = {}, entry: object = {}): Promise<TestGateway> {
  upstream = await startUpstream(script);
  gateway = await startTestGateway({ catalog: { providers: entriesFor(upstream.url, entry) }, ...settings });
  return gateway;
}

const messages = [{ role: 'user' as const, content: 'hi' }];

function open(url: string, body: object, headers: Record<string, string> = {}): ClientRequest {
  const text = JSON.stringify({ messages, ...body });
  const request = httpRequest(`${url}/v1/chat/completions`, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, ...headers },
  });
  request.on('error', () => {});
  request.end(text);
  return request;
}

async function reply(request: ClientRequest): Promise<IncomingMessage> {
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of response) text += String(piece);
  return text;
}

describe('clients that leave', () => {
  it('in the middle of their replies, fifty of them, leave the process alive and no upstream socket open with a pool of two', async () => {
    let release = false;
    const { url, gateway: running } = await start(
      async (_, res) => {
        if (release)
          return sse(res, [
            openaiChunk({ role: 'assistant', content: 'x' }),
            openaiChunk({}, 'stop'),
            'data: [DONE]\n\n',
          ]);
        // An endless stream: only an abort ends it.
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        const timer = setInterval(() => res.write(`data: ${JSON.stringify(openaiChunk({ content: 'more ' }))}\n\n`), 2);
        res.on('close', () => clearInterval(timer));
      },
      {},
      { connections: 2 },
    );
    for (let round = 0; round < 25; round += 1) {
      await Promise.all(
        [0, 1].map(async () => {
          const request = open(url, { model: '@openai/m', stream: true });
          const response = await reply(request);
          await once(response, 'data');
          request.destroy();
        }),
      );
    }
    await until(
      () => upstream!.seen.length === 50 && upstream!.seen.every(({ aborted }) => aborted),
      'every upstream request was aborted',
    );
    await until(() => upstream!.sockets.size === 0, 'no upstream socket was open');
    expect(running.upstream.stats().map(({ running: inFlight, queued }) => [inFlight, queued])).toEqual([[0, 0]]);
    release = true;
    expect(await textOf(await reply(open(url, { model: '@openai/m', stream: true })))).toContain('[DONE]');
  });

  it('before the first byte abort the upstream at once', async () => {
    const { url } = await start(() => {});
    const request = open(url, { model: '@openai/m' });
    await until(() => upstream!.seen.length === 1, 'the upstream was asked');
    request.destroy();
    await until(() => upstream!.seen[0]!.aborted, 'the upstream request was aborted');
  });

  it('while they send their body leave nothing behind', async () => {
    const { url, logs } = await start(() => {});
    const request = httpRequest(`${url}/v1/chat/completions`, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, 'content-length': 1000 },
    });
    request.on('error', () => {});
    request.write('{"model":');
    await new Promise((resolve) => setTimeout(resolve, 20));
    request.destroy();
    await until(() => logs.length > 0 || gateway!.logs.length > 0, 'the request was logged');
    expect(gateway!.logs.at(-1)).toMatchObject({ status: 499, error_type: 'client_disconnected' });
    expect(upstream!.seen).toEqual([]);
  });
});

describe('a slow reader', () => {
  it('pauses the upstream instead of filling memory, and still gets every byte', async () => {
    const chunk = `data: ${JSON.stringify(openaiChunk({ content: 'x'.repeat(64 * 1024) }))}\n\n`;
    let written = 0;
    const { url } = await start(async (_, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let count = 0; count < 800 && !res.destroyed; count += 1) {
        written += chunk.length;
        if (!res.write(chunk)) await once(res, 'drain');
      }
      res.end(`data: ${JSON.stringify(openaiChunk({}, 'stop'))}\n\ndata: [DONE]\n\n`);
    });
    const response = await reply(open(url, { model: '@openai/m', stream: true }));
    response.pause();
    let before = -1;
    await until(() => {
      const still = written === before;
      before = written;
      return still && written > 0;
    }, 'the upstream stood still');
    // Sockets on three sides hold a few megabytes; the rest of 51 MB must still be at the upstream.
    expect(written).toBeLessThan(30 * 1024 * 1024);
    const text = await textOf(response);
    expect(text.length).toBeGreaterThan(800 * 64 * 1024);
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });
});

describe('two tenants on one pooled connection', () => {
  it('never see each other’s ids in log lines or spans', async () => {
    const exported: string[] = [];
    const collector = await startUpstream((request, res) => {
      exported.push(request.text);
      json(res, {});
    });
    await start(
      (_, res) => json(res, openaiReply('ok')),
      {
        server: { telemetry: { traces: { endpoint: `${collector.url}/v1/traces`, protocol: 'http/json' } } },
        keys: {
          keys: [
            { id: 'red', key: '${env:NONE:-red-key-0123456789}' },
            { id: 'blue', key: '${env:NONE:-blue-key-0123456789}' },
          ],
        },
      },
      { connections: 1 },
    );
    const traceOf = (tenant: string, index: number) =>
      `${tenant === 'red' ? 'a'.repeat(28) : 'b'.repeat(28)}${String(index).padStart(4, '0')}`;
    const ask = async (tenant: string, index: number) => {
      const headers = {
        'x-gateway-api-key': `${tenant}-key-0123456789`,
        'x-request-id': `${tenant}-${index}`,
        traceparent: `00-${traceOf(tenant, index)}-00f067aa0ba902b7-01`,
      };
      const response = await reply(open(gateway!.url, { model: `@openai/gpt-${tenant}` }, headers));
      await textOf(response);
      expect(response.headers).toMatchObject({
        'x-gateway-request-id': `${tenant}-${index}`,
        'x-gateway-trace-id': traceOf(tenant, index),
      });
    };
    await Promise.all(Array.from({ length: 40 }, (_, index) => ask(index % 2 ? 'red' : 'blue', index)));
    await until(() => gateway!.logs.length === 40, 'every request was logged');
    for (const line of gateway!.logs) {
      const tenant = String(line['key_id']);
      expect(String(line['request_id']).startsWith(tenant)).toBe(true);
      expect(line['trace_id']).toBe(traceOf(tenant, Number(String(line['request_id']).split('-')[1])));
      expect(line['request_model']).toBe(`gpt-${tenant}`);
    }
    expect(upstream!.sockets.size).toBe(1);

    await gateway!.close();
    gateway = undefined;
    const spans = exported.flatMap((text) =>
      (JSON.parse(text) as Exported).resourceSpans.flatMap((one) => one.scopeSpans.flatMap((scope) => scope.spans)),
    );
    // One server span, one for the model, one for the HTTP request, of each of forty.
    expect(spans.length).toBe(120);
    for (const span of spans) {
      const [mine, other] = span.traceId.startsWith('aaaa') ? ['red', 'blue'] : ['blue', 'red'];
      expect(JSON.stringify(span)).not.toContain(other);
      if (span.name.startsWith('chat')) expect(span.name).toBe(`chat gpt-${mine}`);
      const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
      if (parent) expect(parent.traceId).toBe(span.traceId);
    }
    await collector.close();
  });
});

interface Exported {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly traceId: string;
        readonly spanId: string;
        readonly parentSpanId?: string;
        readonly name: string;
      }[];
    }[];
  }[];
}

describe('a stream that breaks', () => {
  const client = () => new OpenAI({ baseURL: `${gateway!.url}/v1`, apiKey: KEY, maxRetries: 0 });

  it.each([
    [
      'in the middle of an event, same format',
      '@openai/m',
      [openaiChunk({ role: 'assistant', content: 'Hel' }), 'data: {"id":"chatcmpl-up","choi', null],
    ],
    [
      'in the middle of an event, mapped',
      '@claude/claude-3-5-haiku-20241022',
      [...anthropicEvents('Hel').slice(0, 3), 'event: content_block_delta\ndata: {"type":"content_b', null],
    ],
    ['without its end, mapped', '@claude/claude-3-5-haiku-20241022', anthropicEvents('Hel').slice(0, 3)],
  ])('%s gives the openai SDK the text so far and a clean error', async (_, model, events) => {
    await start((_request, res) => sse(res, events));
    const stream = await client().chat.completions.create({ model, max_tokens: 9, messages, stream: true });
    let text = '';
    const failure = await (async () => {
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    })().catch((error: unknown) => error);
    expect(text).toBe('Hel');
    expect(failure).toBeInstanceOf(APIError);
    expect(failure).toMatchObject({ code: 'stream_interrupted', type: 'server_error' });
  });

  it('by an error event of the provider gives that error', async () => {
    await start((_request, res) =>
      sse(res, [
        ...anthropicEvents('Hel').slice(0, 3),
        { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      ]),
    );
    const stream = await client().chat.completions.create({
      model: '@claude/claude-3-5-haiku-20241022',
      max_tokens: 9,
      messages,
      stream: true,
    });
    const failure = await (async () => {
      for await (const _ of stream);
    })().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'overloaded', message: expect.stringContaining('Overloaded') });
  });

  it('before any content is a plain HTTP error, since nothing has left', async () => {
    await start((_request, res) => sse(res, [...anthropicEvents('Hel').slice(0, 2), null]));
    await expect(
      client().chat.completions.create({
        model: '@claude/claude-3-5-haiku-20241022',
        max_tokens: 9,
        messages,
        stream: true,
      }),
    ).rejects.toMatchObject({ status: 502, code: 'stream_interrupted' });
  });

  it('once it has ended says nothing more: exactly one end', async () => {
    await start((_request, res) =>
      sse(res, [...anthropicEvents('Hello'), 'event: content_block_delta\ndata: {"type":"content_b']),
    );
    const text = await textOf(
      await reply(open(gateway!.url, { model: '@claude/claude-3-5-haiku-20241022', max_tokens: 9, stream: true })),
    );
    expect(text.match(/data: \[DONE\]/g)).toHaveLength(1);
    expect(text).not.toContain('"error"');
  });
});

describe('a failed attempt', () => {
  it('leaves neither its headers nor its metadata on the reply of the next', async () => {
    await start(
      (request, res) =>
        request.url.includes('messages')
          ? json(res, anthropicReply('rescued'), 200, { 'request-id': 'req_7' })
          : json(res, { error: { message: 'busy' } }, 503, {
              'retry-after': '9',
              'x-ratelimit-remaining-requests': '0',
              'x-secret-internal': 'no',
            }),
      {
        gateway: {
          two: {
            strategy: { mode: 'fallback' },
            targets: [
              { provider: '@openai' },
              { provider: '@claude', override_params: { model: 'claude-3-5-haiku-20241022', max_tokens: 5 } },
            ],
          },
        },
      },
    );
    const response = await reply(open(gateway!.url, { model: 'm' }, { 'x-gateway-config': 'two' }));
    expect(JSON.parse(await textOf(response))).toMatchObject({ choices: [{ message: { content: 'rescued' } }] });
    expect(response.headers).toMatchObject({
      'x-gateway-last-used-option-index': 'config.targets[1]',
      'x-gateway-provider': 'claude',
      'request-id': 'req_7',
    });
    for (const name of ['retry-after', 'x-ratelimit-remaining-requests', 'x-secret-internal'])
      expect(response.headers).not.toHaveProperty(name);
  });
});
