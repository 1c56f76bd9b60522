import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { startTestGateway, until, KEY, type TestGateway } from '../support/gateway.ts';
import { entriesFor, json, openaiReply, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import { describe as describeDiagnostic, SettingsRefused } from '../../src/core/settings/source/diagnostic.ts';
import { CLIENT_APIS, send } from './client-apis.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const CREDENTIAL = 'canary-credential-of-ann';

interface Asked {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}
type Answer = { readonly status?: number; readonly value?: unknown };

/** A service that answers what the test says, and what it was asked. */
async function startService(answer: (credential: string) => Answer | Promise<Answer>) {
  const asked: Asked[] = [];
  const server = createServer((req, res) => {
    let body = '';
    req.on('data', (piece: Buffer) => (body += piece.toString()));
    req.on('end', () => {
      asked.push({ headers: req.headers, body });
      const { credential } = JSON.parse(body) as { credential: string };
      void Promise.resolve(answer(credential)).then(({ status = 200, value = {} }) => {
        res.writeHead(status, { 'content-type': 'application/json' });
        res.end(typeof value === 'string' ? value : JSON.stringify(value));
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  });
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/who` };
}

interface Started {
  readonly gateway: TestGateway;
  readonly upstream: ScriptedUpstream;
  readonly asked: readonly Asked[];
  ask(credential?: string): Promise<{ readonly status: number; readonly text: string }>;
}

async function start(
  answer: (credential: string) => Answer | Promise<Answer>,
  {
    methods = ['auth-call'],
    timeout = '20s',
  }: { readonly methods?: readonly string[]; readonly timeout?: string } = {},
): Promise<Started> {
  const service = await startService(answer);
  const upstream = await startUpstream((_, res) => json(res, openaiReply('hello')));
  const options = { url: service.url, secret: SECRET, allow_insecure: true, timeout };
  const entry = methods.map((plugin) => (plugin === 'auth-call' ? { plugin, options } : plugin));
  const gateway = await startTestGateway({
    server: {
      chains: {
        entry: ['telemetry', 'errors', ...entry, 'limit', 'models', 'body', 'limit-tokens', 'responses', 'config'],
      },
    },
    catalog: { providers: entriesFor(upstream.url) },
    teams: { teams: { search: {}, slow: { limits: { requests: '1/h' } } } },
  });
  onTestFinished(async () => {
    await gateway.close();
    await upstream.close();
  });
  return {
    gateway,
    upstream,
    asked: service.asked,
    async ask(credential = CREDENTIAL) {
      const headers = { 'x-gateway-api-key': '', authorization: `Bearer ${credential}` };
      const reply = await send(gateway.url, CLIENT_APIS[0]!, '@openai/m', { headers });
      return { status: reply.status, text: await reply.text() };
    },
  };
}

const ann = { id: 'ann', team: 'search', metadata: { desk: '7' } };

describe('the service that knows the callers', () => {
  it.each(CLIENT_APIS)('is asked at the door of $name, with a signature, and its caller is recorded', async (api) => {
    const { gateway, asked, upstream } = await start(() => ({ value: { caller: ann, ttl: 60 } }));
    const own = { 'x-gateway-api-key': '' };
    const byDoor: Record<string, Record<string, string>> = {
      chat: { authorization: `Bearer ${CREDENTIAL}` },
      messages: { 'x-api-key': CREDENTIAL },
      responses: { authorization: CREDENTIAL },
      gemini: { 'x-goog-api-key': CREDENTIAL },
    };
    for (const stream of [false, true]) {
      const reply = await send(gateway.url, api, '@openai/m', { stream, headers: { ...own, ...byDoor[api.name] } });
      expect([reply.status, await reply.text()]).toEqual([200, expect.any(String)]);
    }
    expect(asked).toHaveLength(1);
    const [{ headers, body }] = asked as [Asked];
    expect(JSON.parse(body)).toEqual({ version: 1, credential: CREDENTIAL });
    const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
    const signature = createHmac('sha256', Buffer.alloc(32, 7)).update(signed).digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${signature}`);
    expect(gateway.logs.findLast(({ msg }) => String(msg).startsWith('request '))).toMatchObject({
      key_id: 'ann',
      team: 'search',
    });
    expect(upstream.seen).toHaveLength(2);
    expect(JSON.stringify(upstream.seen)).not.toContain(CREDENTIAL);
    const { text: metrics } = await gateway.gateway.metrics.scrape(undefined);
    for (const secret of [CREDENTIAL, SECRET.slice('whsec_'.length)])
      expect(gateway.logText() + metrics).not.toContain(secret);
  });

  it('is asked at the door of a WebSocket', async () => {
    const { gateway, asked } = await start((credential) =>
      credential === CREDENTIAL ? { value: { caller: ann, ttl: 60 } } : { status: 401 },
    );
    const open = async (credential: string): Promise<number> => {
      const headers = { authorization: `Bearer ${credential}` };
      const ws = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/responses`, { headers });
      onTestFinished(() => ws.terminate());
      return new Promise((resolve) => {
        ws.on('upgrade', ({ statusCode }) => resolve(statusCode ?? 0));
        ws.on('unexpected-response', (_, { statusCode }) => resolve(statusCode ?? 0));
        ws.on('error', () => {});
      });
    };
    expect([await open(CREDENTIAL), await open('another')]).toEqual([101, 401]);
    expect(asked.map(({ body }) => (JSON.parse(body) as { credential: string }).credential)).toEqual([
      CREDENTIAL,
      'another',
    ]);
  });

  it('may name a gateway key, with all that the key may', async () => {
    const { ask, gateway } = await start(() => ({ value: { key: 'test' } }));
    expect((await ask()).status).toBe(200);
    expect(gateway.logs.findLast(({ msg }) => String(msg).startsWith('request '))).toMatchObject({ key_id: 'test' });
  });

  it('makes callers that have the limits of their team, and of their own', async () => {
    const { ask } = await start((name) => {
      const [id = '', team = ''] = name.split('.');
      return { value: { caller: { id, team, limits: { requests: '1/h' } } } };
    });
    const statuses: number[] = [];
    for (const user of ['ann.search', 'ann.search', 'bob.search', 'cat.slow', 'dan.slow'])
      statuses.push((await ask(user)).status);
    expect(statuses).toEqual([200, 429, 200, 200, 429]);
  });

  it.each<[string, unknown]>([
    ['team', { caller: { id: 'ann', team: 'nowhere' } }],
    ['key', { key: 'unknown' }],
    ['limit', { caller: { id: 'ann', limits: { request: '1/s' } } }],
    ['member', { caller: { id: 'ann', limit: 3 } }],
  ])('is refused with 403 where it names an unknown %s', async (_, value) => {
    const { ask, upstream } = await start(() => ({ value }));
    const { status, text } = await ask();
    expect([status, text]).toEqual([403, expect.stringContaining('key_misconfigured')]);
    expect(upstream.seen).toEqual([]);
  });

  it.each<[string, Answer | Promise<never>]>([
    ['answers 500', { status: 500 }],
    ['answers what cannot be read', { value: 'yes' }],
    ['answers too much', { value: { key: 'test', note: 'x'.repeat(70_000) } }],
    ['does not answer in time', new Promise<never>(() => {})],
  ])('fails closed when it %s', async (_, answer) => {
    const { ask, upstream } = await start(() => answer, { timeout: '300ms' });
    const { status, text } = await ask();
    expect([status, text]).toEqual([503, expect.stringContaining('auth_unavailable')]);
    expect(upstream.seen).toEqual([]);
  });

  it('is asked once for its time, again without one, and once for equal requests at the same time', async () => {
    let ttl: number | undefined = 60;
    const open = Promise.withResolvers<void>();
    const { ask, asked } = await start(async () => {
      await open.promise;
      return { value: { key: 'test', ...(ttl !== undefined && { ttl }) } };
    });
    const all = [ask(), ask(), ask()];
    await until(() => asked.length > 0, 'the service is asked');
    open.resolve();
    expect((await Promise.all(all)).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect([(await ask()).status, asked.length]).toEqual([200, 1]);
    ttl = undefined;
    await ask('other');
    await ask('other');
    expect(asked).toHaveLength(3);
  });

  it('keeps its answers beyond a reload', async () => {
    const { ask, asked, gateway } = await start(() => ({ value: { key: 'test', ttl: 60 } }));
    await ask();
    const { readFileSync, writeFileSync } = await import('node:fs');
    const file = `${gateway.configs}/server.yaml`;
    const server = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...server, limits: { in_flight: 77 } }));
    // The watcher of the files may have been faster.
    expect(['changed', 'unchanged']).toContain((await gateway.gateway.reload()).outcome);
    expect([(await ask()).status, asked.length]).toEqual([200, 1]);
  });

  it('is one of several methods: behind `auth` it is asked for what is no gateway key', async () => {
    const { ask, asked, gateway } = await start((credential) => ({ status: credential === 'bad' ? 403 : 401 }), {
      methods: ['auth', 'auth-call'],
    });
    const byKey = await send(gateway.url, CLIENT_APIS[0]!, '@openai/m', { headers: { 'x-gateway-api-key': KEY } });
    expect([byKey.status, await byKey.text(), asked.length]).toEqual([200, expect.any(String), 0]);
    const unknown = await ask('unknown');
    expect([unknown.status, unknown.text]).toEqual([401, expect.stringMatching(/auth: .*auth-call: /)]);
    const refused = await ask('bad');
    expect([refused.status, refused.text]).toEqual([401, expect.not.stringContaining('auth-call:')]);
  });

  it.each(['before', 'after'])('refuses what no method knows where it was added %s `auth`', async (side) => {
    const service = await startService(() => ({ status: 401 }));
    const upstream = await startUpstream((_, res) => json(res, openaiReply('hello')));
    const options = { url: service.url, secret: SECRET, allow_insecure: true };
    const gateway = await startTestGateway({
      server: { chains: { entry: { add: [{ plugin: 'auth-call', [side]: 'auth', options }] } } },
      catalog: { providers: entriesFor(upstream.url) },
    });
    onTestFinished(async () => {
      await gateway.close();
      await upstream.close();
    });
    const headers = { 'x-gateway-api-key': '', authorization: 'Bearer unknown' };
    const reply = await send(gateway.url, CLIENT_APIS[0]!, '@openai/m', { headers });
    expect([reply.status, await reply.text()]).toEqual([401, expect.stringContaining('No method of this gateway')]);
    expect([service.asked.length, upstream.seen.length]).toEqual([1, 0]);
  });

  it('refuses a chain in which a plugin between two methods would keep no limit', async () => {
    const options = { url: 'https://auth.example.com/', secret: SECRET };
    const entry = [
      'telemetry',
      'errors',
      'auth',
      'limit',
      { plugin: 'auth-call', options },
      'models',
      'body',
      'config',
    ];
    const refused = await startTestGateway({ server: { chains: { entry } } }).then(
      async (gateway) => {
        await gateway.close();
        return 'it started';
      },
      (error: unknown) =>
        error instanceof SettingsRefused ? error.diagnostics.map(describeDiagnostic).join('\n') : String(error),
    );
    expect(refused).toContain('"limit" needs the caller: put it behind "auth-call", which may know it');
  });

  it('has not failed where the client has left', async () => {
    const open = Promise.withResolvers<void>();
    const { gateway, asked } = await start(async () => {
      await open.promise;
      return { value: { key: 'test' } };
    });
    const leaving = new AbortController();
    const headers = { 'x-gateway-api-key': '', authorization: `Bearer ${CREDENTIAL}` };
    const left = fetch(`${gateway.url}/v1/models`, { headers, signal: leaving.signal }).catch(() => 'left');
    await until(() => asked.length > 0, 'the service is asked');
    leaving.abort();
    expect(await left).toBe('left');
    await until(() => gateway.logs.some(({ msg }) => msg === 'client left'), 'the request has ended');
    expect(gateway.logs.filter(({ msg }) => String(msg).includes('failed'))).toEqual([]);
    open.resolve();
  });

  it('refuses a secret of another form at its place, and shows it nowhere', async () => {
    const wrong = 'my-own-signing-secret-0123456789';
    const options = { url: 'https://auth.example.com/', secret: wrong };
    const refused = await startTestGateway({
      server: {
        chains: { entry: ['telemetry', 'errors', { plugin: 'auth-call', options }, 'models', 'body', 'config'] },
      },
    }).then(
      async (gateway) => {
        await gateway.close();
        return 'it started';
      },
      (error: unknown) =>
        error instanceof SettingsRefused ? error.diagnostics.map(describeDiagnostic).join('\n') : String(error),
    );
    expect(refused).toContain('plugin "auth-call" cannot start: the secret is not `whsec_`');
    expect(refused).toMatch(/warning: a secret in clear text; write `secret: /);
    expect(refused).not.toContain(wrong);
  });
});
