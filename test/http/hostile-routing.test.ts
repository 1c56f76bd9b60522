import { request as httpRequest } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, until, type TestGateway } from '../support/gateway.ts';
import { json, openaiChunk, openaiReply, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

const SECRET = 'c0ffee-vendor-key-0123456789';
const PLAIN = JSON.stringify(openaiReply('hi'));
const REFUSAL = JSON.stringify({ error: { message: 'wait', type: 'rate_limit_error', code: null, param: null } });

/** What the raw upstream answers with: status, header lines, body. */
let answer: readonly [string, string, Buffer | string] = ['200 OK', '', PLAIN];
let raw: Server;
let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  raw = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      if (!bytes.toString('latin1').startsWith('POST')) return;
      const [status, head, body] = answer;
      const length = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
      socket.write(Buffer.concat([Buffer.from(`HTTP/1.1 ${status}\r\n${length}${head}\r\n`), Buffer.from(body)]));
      socket.end();
    });
  });
  await new Promise<void>((resolve) => raw.listen(0, '127.0.0.1', resolve));
  upstream = await startUpstream((_, res) => json(res, openaiReply('hi')));
  const entry = (slug: string, url: string) => ({
    slug,
    provider: 'openai',
    api_key: '${env:SECRET}',
    base_url: `${url}/v1`,
    allow_insecure: true,
  });
  const tenants = { provider: '@seen', forward_headers: ['x-tenant', 'constructor'] };
  gateway = await startTestGateway(
    {
      server: { admin: { port: 0, records: 50 } },
      catalog: {
        providers: [
          entry('raw', `http://127.0.0.1:${(raw.address() as AddressInfo).port}`),
          entry('seen', upstream.url),
        ],
      },
      keys: { keys: [{ id: 'test', key: KEY, inline_configs: true }] },
      gateway: {
        again: { provider: '@raw', retry: { attempts: 1, min_delay: '1ms', max_delay: '1s' } },
        tenants,
        'kept-tenants': { ...tenants, cache: { mode: 'exact' } },
        'by-tenant': {
          strategy: {
            mode: 'conditional',
            // oxlint-disable-next-line unicorn/no-thenable -- conditions have the key `then`, and no code awaits one
            conditions: [{ query: { 'headers.x-tenant': { $exists: true } }, then: 'tenant' }],
            default: 'nobody',
          },
          targets: [
            { name: 'tenant', provider: '@seen' },
            { name: 'nobody', provider: '@seen' },
          ],
        },
      },
    },
    { env: { SECRET } },
  );
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
  raw.close();
});

interface Asked {
  readonly config?: string | object;
  readonly model?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** By hand: `fetch` would not send the headers of the connection. */
function ask({ config, model = '@seen/m', headers = {} }: Asked) {
  const named = typeof config === 'object' ? JSON.stringify(config) : config;
  return new Promise<{ status: number; headers: Record<string, unknown>; text: string }>((resolve, reject) => {
    httpRequest(
      `${gateway.url}/v1/chat/completions`,
      {
        method: 'POST',
        agent: false,
        headers: {
          'content-type': 'application/json',
          'x-gateway-api-key': KEY,
          ...(named !== undefined && { 'x-gateway-config': named }),
          ...headers,
        },
      },
      (response) => {
        let text = '';
        response.on('data', (piece: Buffer) => (text += piece.toString()));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      },
    )
      .on('error', reject)
      .end(JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] }));
  });
}

describe('a header that `connection` names', () => {
  const hop = { connection: 'close, X-Tenant', 'x-tenant': 'a' };

  it('ends at the gateway, though the config forwards it', async () => {
    await ask({ config: 'tenants', headers: { 'x-tenant': 'a' } });
    expect(upstream.seen.at(-1)?.headers['x-tenant']).toBe('a');
    await ask({ config: 'tenants', headers: hop });
    expect(upstream.seen.at(-1)?.headers).not.toHaveProperty('x-tenant');
  });

  it('makes no reply be kept for those who really say it', async () => {
    const config = 'kept-tenants';
    expect((await ask({ config, headers: hop })).headers['x-gateway-cache-status']).toBe('MISS');
    expect((await ask({ config, headers: { 'x-tenant': 'a' } })).headers['x-gateway-cache-status']).toBe('MISS');
    expect((await ask({ config })).headers['x-gateway-cache-status']).toBe('HIT');
  });

  it('is not there for a condition', async () => {
    const option = async (headers: Record<string, string>) =>
      (await ask({ config: 'by-tenant', headers })).headers['x-gateway-last-used-option-index'];
    expect(await option({ 'x-tenant': 'a' })).toBe('config.targets[0]');
    expect(await option(hop)).toBe('config.targets[1]');
  });

  it('cannot be the one that says how long the body is or what it is', async () => {
    const connection = 'close, content-length, content-type, content-encoding, host';
    expect((await ask({ headers: { connection } })).status).toBe(200);
    expect((await ask({ headers: { connection, 'content-encoding': 'compress' } })).status).toBe(415);
  });
});

describe('an upstream that answers as it likes', () => {
  it.each([
    ['9'.repeat(400), true],
    ['9'.repeat(25), true],
    ['Fri, 31 Dec 9999 23:59:59 GMT', true],
    ['1e308', false],
    ['-5', false],
    ['Infinity', false],
    ['NaN', false],
    ['0x10', false],
    ['Sat, 01 Jan +275000 00:00:00 GMT', false],
    [' ', false],
  ])(
    'and asks for a wait of %j does not delay the request; the client gets a number or no header',
    async (wait, isRead) => {
      answer = ['429 Too Many Requests', `retry-after: ${wait}\r\n`, REFUSAL];
      const { status, headers } = await ask({ config: 'again', model: 'm' });
      expect([status, headers['x-gateway-retry-attempt-count']]).toEqual([429, isRead ? '0' : '1']);
      for (const name of ['retry-after', 'retry-after-ms'])
        if (isRead) expect(headers[name]).toMatch(/^\d{1,11}$/);
        else expect(headers).not.toHaveProperty(name);
    },
  );

  it.each<[string, string, Buffer | string, number]>([
    ['text that no header should have', 'x-ratelimit-a: 中文é\r\nrequest-id: \u00ff\r\n', PLAIN, 200],
    ['six hundred headers', Array.from({ length: 600 }, (_, n) => `x-ratelimit-${n}: 1\r\n`).join(''), PLAIN, 200],
    ['a header of 20 KB', `x-ratelimit-a: ${'a'.repeat(20_000)}\r\n`, PLAIN, 502],
    ['a control character', 'x-ratelimit-a: a\u0001b\r\n', PLAIN, 502],
    ['two framings', 'transfer-encoding: chunked\r\n', '0\r\n\r\n', 502],
    ['a bomb of gzip', 'content-encoding: gzip\r\n', gzipSync(Buffer.alloc(20_000_000)), 502],
    ['a cookie', 'set-cookie: a=b\r\naccess-control-allow-origin: *\r\nlocation: /x\r\n', PLAIN, 200],
  ])('and sends %s does not harm what comes after', async (_, head, body, status) => {
    answer = ['200 OK', head, body];
    const reply = await ask({ model: '@raw/m' });
    expect([reply.status, Number(reply.headers['content-length'])]).toEqual([status, Buffer.byteLength(reply.text)]);
    for (const name of ['set-cookie', 'access-control-allow-origin', 'location'])
      expect(reply.headers).not.toHaveProperty(name);
    answer = ['200 OK', '', PLAIN];
    expect((await ask({ model: '@raw/m' })).status).toBe(200);
  });

  it.each(['message', 'type', 'code', 'param', 'status'])(
    'and writes the credential it was sent into the %s of its error does not get it into any output',
    async (field) => {
      const id = `quoted-${field}`;
      const said = { message: 'no', type: 'invalid_request_error', code: 'bad', param: 'model' };
      answer = ['400 Bad Request', '', JSON.stringify({ error: { ...said, [field]: `it was ${SECRET}` } })];
      const { status, headers, text } = await ask({ model: '@raw/m', headers: { 'x-request-id': id } });
      expect(status).toBe(400);
      await until(() => gateway.logs.some(({ request_id: logged }) => logged === id), 'it was logged');
      const record = await (await fetch(`${gateway.gateway.admin?.url}/admin/v1/requests/${id}`)).text();
      expect(record).toContain('"upstream_rejected"');
      for (const reported of [JSON.stringify(headers), text, gateway.logText(), record])
        expect(reported).not.toContain(SECRET);
    },
  );
});

describe('an upstream that sends little, often', () => {
  const word = `data: ${JSON.stringify(openaiChunk({ content: 'a' }))}\n\n`;
  const end = `data: ${JSON.stringify(openaiChunk({}, 'stop'))}\n\ndata: [DONE]\n\n`;

  it.each([
    ['single bytes', [...(word.repeat(20) + end)], 20],
    ['comments by the thousand', [...Array.from({ length: 100 }, () => ': ping\n\n'.repeat(500)), word, end], 1],
    ['empty events by the thousand', [...Array.from({ length: 100 }, () => 'data:\n\n'.repeat(500)), word, end], 1],
  ])('of %s loses nothing', async (_, pieces, words) => {
    const drip = await startUpstream(async (_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const piece of pieces) {
        res.write(piece);
        await new Promise(setImmediate);
      }
      res.end();
    });
    const own = await startTestGateway({
      catalog: { providers: [{ slug: 'drip', provider: 'simulator', base_url: drip.url, allow_insecure: true }] },
    });
    const response = await fetch(`${own.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY },
      body: JSON.stringify({ model: '@drip/m', stream: true, messages: [{ role: 'user', content: 'hi' }] }),
    });
    const text = await response.text();
    await own.close();
    await drip.close();
    expect([text.match(/"content":"a"/g)?.length, text.endsWith('data: [DONE]\n\n')]).toEqual([words, true]);
    expect(text).not.toContain('"error"');
  });
});

describe('a caller', () => {
  it.each(['0', '-1', '+5', '1e9', '1.5', '0x10', 'NaN', 'Infinity', '9'.repeat(20), '9007199254740993', ' ', '1,2'])(
    'that asks for a time of %j is refused',
    async (time) => {
      expect((await ask({ headers: { 'x-gateway-request-timeout': time } })).status).toBe(400);
    },
  );

  it('cannot make metrics or records grow by ids, metadata, configs or the names of models', async () => {
    const series = async () =>
      new Set(
        [...(await (await fetch(`${gateway.statusUrl}/metrics`)).text()).matchAll(/^gatehouse_.*(?= )/gm)].map(String),
      );
    const each = (n: number): Asked => ({
      config: { provider: '@seen', override_params: { seed: n }, circuit_breaker: { failures: 2 } },
      model: `unheard-of model ${n}`,
      headers: { 'x-request-id': `id-${n}`, 'x-gateway-metadata': JSON.stringify({ user: `user-${n}` }) },
    });
    expect((await ask(each(0))).status).toBe(200);
    const before = await series();
    for (let n = 1; n <= 150; n += 1) await ask(each(n));
    const after = await series();
    expect(before.size).toBeGreaterThan(100);
    expect([...after.difference(before)]).toEqual([]);
    const list = await (await fetch(`${gateway.gateway.admin?.url}/admin/v1/requests?limit=200`)).json();
    expect((list as { items: unknown[] }).items).toHaveLength(50);
  });

  const PROTOTYPE = { constructor: { prototype: { taken: 1 } } };
  it.each([
    ['drop_params', ['constructor.prototype.valueOf', '__proto__.toString', 'messages.constructor.prototype.map']],
    ['override_params', { ...PROTOTYPE, metadata: PROTOTYPE, ['__proto__']: { taken: 1 } }],
    ['default_params', { ...PROTOTYPE, metadata: PROTOTYPE, ['__proto__']: { taken: 1 } }],
  ])('that names in %s what every object has changes no other object', async (key, value) => {
    const before = [Object, Array].map(({ prototype }) => Object.getOwnPropertyNames(prototype));
    expect((await ask({ config: { provider: '@seen', [key]: value } })).status).toBe(200);
    expect([Object, Array].map(({ prototype }) => Object.getOwnPropertyNames(prototype))).toEqual(before);
    expect('taken' in {}).toBe(false);
  });

  it.each(['\u2028', '\u202e', '\u0085', '\u200b'])(
    'that hides %j in a model writes none into logs and records',
    async (sign) => {
      const id = `sign-${sign.codePointAt(0)}`;
      await ask({ model: `@seen/a${sign}b`, headers: { 'x-request-id': id, 'user-agent': 'a\u0085b' } });
      await until(() => gateway.logs.some(({ request_id: logged }) => logged === id), 'it was logged');
      const record = await (await fetch(`${gateway.gateway.admin?.url}/admin/v1/requests/${id}`)).text();
      for (const reported of [gateway.logText(), record]) expect(reported.includes(sign)).toBe(false);
    },
  );
});
