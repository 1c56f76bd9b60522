import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer, request, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { listenAdmin } from '../../src/addons/admin/admin-listener.ts';
import { CannotListen } from '../../src/core/http/listener/listeners.ts';
import { KEY, startTestGateway, until, type TestGateway, type TestSettings } from '../support/gateway.ts';
import {
  entriesFor,
  json,
  openaiChunk,
  openaiReply,
  sse,
  startUpstream,
  type Script,
  type ScriptedUpstream,
} from '../support/upstream.ts';

const TOKEN = 'admin-token-0123456789';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function upstreamOf(script: Script): Promise<ScriptedUpstream> {
  const upstream = await startUpstream(script);
  closers.push(() => upstream.close());
  return upstream;
}

async function start(settings: TestSettings = {}): Promise<TestGateway> {
  const gateway = await startTestGateway(settings);
  closers.push(() => gateway.close());
  return gateway;
}

const answering: Script = (_, res) => json(res, openaiReply('hi'));

async function startWith(script: Script, settings: TestSettings = {}): Promise<TestGateway> {
  const upstream = await upstreamOf(script);
  return start({ catalog: { providers: entriesFor(upstream.url) }, ...settings });
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly json: Record<string, unknown>;
}

interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string>;
}

function ask(gateway: TestGateway, path: string, { method = 'GET', headers = {} }: Asked = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request(gateway.gateway.admin!.url + path, { method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          json: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>,
        }),
      );
    })
      .on('error', reject)
      .end();
  });
}

async function chat(
  gateway: TestGateway,
  { id = 'req-1', body = {}, config }: { id?: string; body?: object; config?: string } = {},
): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gateway-api-key': KEY,
      'x-request-id': id,
      ...(config !== undefined && { 'x-gateway-config': config }),
    },
    body: JSON.stringify({ model: '@openai/m', messages: [{ role: 'user', content: 'canary-prompt' }], ...body }),
  });
}

async function done(gateway: TestGateway, requests: number): Promise<void> {
  await until(() => gateway.logs.filter(({ request_id }) => request_id !== undefined).length >= requests, 'its end');
}

/** What comes back for a request head as it stands. */
function raw(gateway: TestGateway, head: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(gateway.gateway.admin!.port, '127.0.0.1');
    let text = '';
    socket.on('data', (piece) => (text += piece.toString())).on('close', () => resolve(text));
    socket.write(`${head}connection: close\r\n\r\n`);
  });
}

const idsOf = ({ json: { items } }: Answer): unknown[] =>
  (items as { request_id: string }[]).map(({ request_id }) => request_id);

describe('the admin listener', () => {
  it('tells what became of a request, by its id', async () => {
    const gateway = await startWith(
      (_, res, index) =>
        index === 0 ? json(res, { error: { message: 'canary-busy' } }, 503) : json(res, openaiReply('canary-answer')),
      {
        gateway: {
          prod: {
            strategy: { mode: 'fallback' },
            targets: [
              { provider: '@openai', override_params: { model: 'first' } },
              { provider: '@openai', override_params: { model: 'second' } },
            ],
          },
        },
      },
    );
    const response = await chat(gateway, { config: 'prod' });
    await response.text();
    await done(gateway, 1);
    const id = response.headers.get('x-gateway-request-id')!;
    const { status, headers, text, json: record } = await ask(gateway, `/admin/v1/requests/${id}`);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect(record).toMatchObject({
      request_id: 'req-1',
      state: 'complete',
      outcome: 'success',
      status: 200,
      method: 'POST',
      route: '/v1/chat/completions',
      operation: 'chat.completions',
      key_id: 'test',
      config: { id: 'prod', hash: expect.stringMatching(/^[\da-f]{16}$/) },
      settings_hash: expect.any(String),
      commit: 'first_content',
      retries: 0,
      finish_reason: 'stop',
      attempts: [
        {
          target: 'config.targets[0]',
          why: 'first',
          provider: 'openai',
          request_model: 'first',
          outcome: 'error',
          failure: { code: 'overloaded', type: 'overloaded', kinds: ['overloaded'], status: 503 },
          tries: [{ status: 503, outcome: 'error', error: { code: 'overloaded' } }],
        },
        {
          target: 'config.targets[1]',
          why: 'fallback',
          request_model: 'second',
          response_model: 'upstream-model',
          outcome: 'success',
          tokens: { input: 3, output: 2 },
          tries: [{ status: 200, outcome: 'success' }],
        },
      ],
      skipped: [],
    });
    expect(text).not.toMatch(/canary-(?:prompt|answer)/);
    expect(text).not.toContain(KEY);
  });

  it('tells of a request that still runs', async () => {
    let finish = (): void => {};
    const gateway = await startWith(async (_, res) => {
      await sse(res, [openaiChunk({ content: 'a' })], false);
      await new Promise<void>((resolve) => (finish = resolve));
      res.end(`data: ${JSON.stringify(openaiChunk({}, 'stop'))}\n\ndata: [DONE]\n\n`);
    });
    const response = await chat(gateway, { body: { stream: true } });
    const { json: record } = await ask(gateway, '/admin/v1/requests/req-1');
    expect(record).toMatchObject({
      state: 'running',
      outcome: 'running',
      stream: true,
      attempts: [{ outcome: 'running', tries: [{ outcome: 'running' }] }],
    });
    expect(record).not.toHaveProperty('status');
    expect(record).not.toHaveProperty('ended');
    expect(idsOf(await ask(gateway, '/admin/v1/requests?state=running'))).toEqual(['req-1']);
    finish();
    await response.text();
    await done(gateway, 1);
    expect((await ask(gateway, '/admin/v1/requests/req-1')).json).toMatchObject({ state: 'complete', status: 200 });
    expect(idsOf(await ask(gateway, '/admin/v1/requests?state=running'))).toEqual([]);
  });

  it('lists the latest requests, the latest first, as asked for', async () => {
    const gateway = await startWith(
      (request, res) => (request.json['model'] === 'bad' ? json(res, {}, 400) : json(res, openaiReply('hi'))),
      { gateway: { prod: { provider: '@openai' } } },
    );
    const asked = [
      { id: 'a' },
      { id: 'b', body: { model: '@openai/bad' } },
      { id: 'c', config: 'prod', body: { model: 'm' } },
    ];
    for (const [index, one] of asked.entries()) {
      await (await chat(gateway, one)).text();
      await done(gateway, index + 1);
    }
    const list = async (query: string): Promise<unknown[]> => idsOf(await ask(gateway, `/admin/v1/requests${query}`));
    expect(await list('')).toEqual(['c', 'b', 'a']);
    expect(await list('?limit=2')).toEqual(['c', 'b']);
    expect(await list('?state=failed')).toEqual(['b']);
    expect(await list('?config=prod')).toEqual(['c']);
    expect(await list('?key=test&state=complete')).toEqual(['c', 'a']);
    expect(await list('?key=nobody')).toEqual([]);
  });

  it.each([
    '?limit=0',
    '?limit=1001',
    '?status=42',
    '?status=6xx',
    '?error=bussy',
    '?min_ms=-1',
    '?since=yesterday',
    '?q=',
    '?cursor=x',
    '?limit=1e2',
    '?limit=-1',
    '?state=done',
    '?sate=failed',
    '?limit=1&limit=2',
  ])('refuses %s instead of answering another question', async (query) => {
    const gateway = await start();
    const { status, json: body } = await ask(gateway, `/admin/v1/requests${query}`);
    expect([status, body]).toMatchObject([400, { code: 'invalid_query' }]);
  });

  it.each(['/admin', '/admin/v1', '/metrics', '/admin/v1/requests/none', '/admin/v1/requests/'])(
    'has nothing at %s',
    async (path) => {
      const gateway = await start();
      expect(await ask(gateway, path)).toMatchObject({ status: 404, json: { code: 'not_found' } });
    },
  );

  it('answers other paths below /admin/v1 as the admin API does', async () => {
    const gateway = await start();
    expect(await ask(gateway, '/admin/v1/requestsx')).toMatchObject({ status: 404, json: { code: 'not_found' } });
  });

  it('answers HEAD without a body, and changes nothing by any method', async () => {
    const gateway = await start();
    const path = '/admin/v1/requests';
    const got = await ask(gateway, path);
    const head = await ask(gateway, path, { method: 'HEAD' });
    expect(head).toMatchObject({ status: 200, text: '', headers: { 'content-length': got.headers['content-length'] } });
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
      expect(await ask(gateway, path, { method })).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
  });

  it('answers with the latest where callers have used an id twice, and says so', async () => {
    const gateway = await startWith(answering);
    for (const [index, max_tokens] of [1, 2].entries()) {
      await (await chat(gateway, { body: { max_tokens, model: `@openai/m${index}` } })).text();
      await done(gateway, index + 1);
    }
    expect((await ask(gateway, '/admin/v1/requests/req-1')).json).toMatchObject({
      same_id: 2,
      attempts: [{ request_model: 'm1' }],
    });
  });

  it('keeps `admin.records` requests', async () => {
    const gateway = await start({ server: { admin: { port: 0, records: 2 } } });
    for (const [index, id] of ['a', 'b', 'c'].entries()) {
      await (await chat(gateway, { id })).text();
      await done(gateway, index + 1);
    }
    expect(idsOf(await ask(gateway, '/admin/v1/requests'))).toEqual(['c', 'b']);
    expect(await ask(gateway, '/admin/v1/requests/a')).toMatchObject({ status: 404 });
  });

  it('is not there when it is turned off, and nothing is remembered', async () => {
    const gateway = await start({ server: { admin: { enabled: false } } });
    expect(gateway.gateway.admin).toBeUndefined();
    await (await chat(gateway)).text();
    await done(gateway, 1);
    expect(gateway.gateway.record('req-1')).toBeUndefined();
    expect(gateway.gateway.records({ limit: 10 })).toEqual([]);
  });
});

describe('access to the admin listener', () => {
  it('is who names it by a host of its own, whatever token they have', async () => {
    const gateway = await start({ server: { admin: { port: 0, token: TOKEN, hosts: ['gatehouse.internal'] } } });
    const authorization = `Bearer ${TOKEN}`;
    const statusFor = async (host: string): Promise<number> =>
      (await ask(gateway, '/admin/v1/requests', { headers: { host, authorization } })).status;
    for (const host of [
      'localhost',
      'LOCALHOST:8788',
      '127.0.0.1',
      '127.8.9.1:1',
      '[::1]:8788',
      'Gatehouse.internal:80',
    ])
      expect([host, await statusFor(host)]).toEqual([host, 200]);
    for (const host of [
      'evil.example',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      'evil.example:8788',
      'localhost@evil.example',
      '0.0.0.0',
      '10.0.0.1',
      '[::ffff:10.0.0.1]',
      '2130706433',
      '127.1',
      '0x7f.0.0.1',
      'localhost.',
      'evil.localhost',
      '127.0.0.1, evil.example',
      '127.0.0.1%00.evil.example',
      '[::1%25lo]',
      '[::1].evil.example',
      '[127.0.0.1]x',
      '127.0.0.1:',
      '127.0.0.1:80:80',
      'gatehouse.internal.',
    ])
      expect([host, await statusFor(host)]).toEqual([host, 421]);
  });

  it('is not told whether a token was right by a host that is not its own', async () => {
    const gateway = await start({ server: { admin: { port: 0, token: TOKEN } } });
    const headers = { host: 'evil.example', authorization: 'Bearer wrong' };
    expect(await ask(gateway, '/admin/v1/requests', { headers })).toMatchObject({
      status: 421,
      json: { code: 'unknown_host' },
    });
  });

  it('is who has the token, where there is one: on loopback too', async () => {
    const gateway = await start({ server: { admin: { port: 0, token: TOKEN } } });
    const statusFor = async (authorization?: string): Promise<number> =>
      (await ask(gateway, '/admin/v1/requests', { headers: authorization === undefined ? {} : { authorization } }))
        .status;
    expect(await statusFor(`Bearer ${TOKEN}`)).toBe(200);
    expect(await statusFor(`bearer ${TOKEN}`)).toBe(200);
    for (const wrong of [
      undefined,
      '',
      'Bearer',
      `Bearer ${TOKEN}x`,
      `Bearer ${TOKEN.slice(1)}`,
      `Basic ${TOKEN}`,
      `Bearer ${TOKEN} ${TOKEN}`,
      `Bearer ${TOKEN}, Bearer ${TOKEN}`,
      `Bearer\t${TOKEN}`,
      `Bearer ${TOKEN.toUpperCase()}`,
      `Bearer ${TOKEN.replace('a', '\u00e4')}`,
      `Bearer ${'x'.repeat(4000)}`,
      TOKEN,
    ])
      expect([wrong, await statusFor(wrong)]).toEqual([wrong, 401]);
    const refused = await ask(gateway, '/admin/v1/requests/any');
    expect(refused).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer' } });
    expect(refused.text).not.toContain(TOKEN);
  });

  it('is impossible beyond loopback without a token, even if no check of the settings ran', async () => {
    const server = createServer();
    const refused = listenAdmin(
      { server, offerBootstrap: async () => {} },
      {
        enabled: true,
        host: '0.0.0.0',
        port: 0,
        token: undefined,
        role: 'viewer',
        hosts: [],
        records: 1,
        explain: 'none',
        content: false,
        publicUrl: undefined,
      },
    );
    await expect(refused).rejects.toThrow(/`admin\.token`/);
    expect(server.listening).toBe(false);
  });

  it('needs the new token after a reload, and the old one is refused', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-admin-'));
    closers.push(() => rm(folder, { recursive: true }));
    const file = join(folder, 'token');
    writeFileSync(file, TOKEN);
    const gateway = await start({ server: { admin: { port: 0, token: `\${file:${file}}` } } });
    const statusFor = async (token: string): Promise<number> =>
      (await ask(gateway, '/admin/v1/requests', { headers: { authorization: `Bearer ${token}` } })).status;
    expect(await statusFor(TOKEN)).toBe(200);
    writeFileSync(file, 'another-token-0123456789');
    await gateway.gateway.reload();
    expect([await statusFor(TOKEN), await statusFor('another-token-0123456789')]).toEqual([401, 200]);
  });

  it.each(['0.0.0.0', '::'])('is impossible at %s without a token: the listener does not start', async (host) => {
    await expect(startTestGateway({ server: { admin: { host, port: 0 } } })).rejects.toThrow();
  });

  it('needs the token if it listens on every address', async () => {
    const gateway = await start({ server: { admin: { host: '0.0.0.0', port: 0, token: TOKEN } } });
    const path = '/admin/v1/requests';
    const host = `127.0.0.1:${gateway.gateway.admin!.port}`;
    expect(await ask(gateway, path, { headers: { host } })).toMatchObject({ status: 401 });
    expect(await ask(gateway, path, { headers: { host, authorization: `Bearer ${TOKEN}` } })).toMatchObject({
      status: 200,
    });
  });

  it('is bounded in connections, and possible again once those have closed', async () => {
    const gateway = await start();
    const crowd = Array.from({ length: 120 }, () => connect(gateway.gateway.admin!.port, '127.0.0.1'));
    for (const socket of crowd) socket.on('error', () => {}).resume();
    await until(() => crowd.filter(({ closed }) => closed).length >= 20, 'those beyond the bound are let go');
    for (const socket of crowd) socket.destroy();
    await until(() => crowd.every(({ closed }) => closed), 'all are gone');
    await expect
      .poll(() =>
        ask(gateway, '/admin/v1/requests').then(
          ({ status }) => status,
          () => 0,
        ),
      )
      .toBe(200);
  });

  it('is refused for headers above the limit', async () => {
    const gateway = await start();
    const long = await ask(gateway, '/admin/v1/requests', { headers: { x: 'x'.repeat(20_000) } });
    expect(long.status).toBe(431);
  });
});

it('a port that is taken stops the start with its name', async () => {
  const first = await start();
  const { port } = first.gateway.admin!;
  await expect(startTestGateway({ server: { admin: { port } } })).rejects.toThrow(CannotListen);
});

it('an id in a path is only ever looked up: no path, no query, no encoding leads elsewhere', async () => {
  const gateway = await start();
  await (await chat(gateway)).text();
  await done(gateway, 1);
  for (const path of ['/admin/v1/requests/req-1/', '/admin/v1/requests/..%2freq-1', '/admin//v1/requests/req-1'])
    expect([path, (await ask(gateway, path)).status]).toEqual([path, 404]);
  const own = 'host: 127.0.0.1\r\n';
  const at = '/admin/v1/requests/req-1';
  expect(await raw(gateway, `GET ${at} HTTP/1.1\r\n${own}`)).toMatch(/^HTTP\/1\.1 200 /);
  expect(await raw(gateway, `GET http://127.0.0.1${at} HTTP/1.1\r\n${own}`)).toMatch(/^HTTP\/1\.1 404 /);
  expect(await raw(gateway, `GET ${at} HTTP/1.1\r\nhost:\r\n`)).toMatch(/^HTTP\/1\.1 421 /);
  expect(await raw(gateway, `GET ${at} HTTP/1.0\r\n`)).toMatch(/^HTTP\/1\.1 421 /);
  for (const twice of ['host: evil.example', 'host: 127.0.0.1', 'authorization: Bearer a\r\nauthorization: Bearer b'])
    for (const path of [at, '/admin/v1/keys', '/'])
      expect(await raw(gateway, `GET ${path} HTTP/1.1\r\n${own}${twice}\r\n`)).toMatch(
        /^HTTP\/1\.1 400 [^]*"code":"invalid_header"/,
      );
});
