import { writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { testPrivateKey } from '../../src/core/providers/setup.testkit.ts';
import { Authority } from '../../src/core/settings/read/certificates.testkit.ts';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { json, openaiReply, startUpstream } from '../support/upstream.ts';
import { certificateFolder } from './tls.testkit.ts';
import { startProxy } from './proxy.testkit.ts';

const authority = new Authority();
afterAll(() => authority.close());
const HOST = 'api.vendor.example';
const issued = authority.issue({ commonName: HOST, names: `DNS:${HOST},DNS:oauth2.googleapis.com,IP:127.0.0.1` });

/** An upstream with TLS, whose certificate only `egress.ca` knows. */
async function startSecureUpstream(answer?: RequestListener) {
  const seen: string[] = [];
  const server = createServer({ cert: issued.cert, key: issued.key }, (req, res) => {
    seen.push(`${req.method} ${req.headers.host}${req.url} ${req.headers['proxy-authorization'] ?? '-'}`);
    if (answer) return answer(req, res);
    req.resume();
    json(res, openaiReply('hi'));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // A TCP server has an AddressInfo.
  return { port: (server.address() as AddressInfo).port, seen };
}

const nowhere = (): Promise<never> => Promise.reject(Object.assign(new Error('no name server'), { code: 'ENOTFOUND' }));

async function start(egress: object, entry: object = {}, env: Record<string, string> = {}): Promise<TestGateway> {
  const folder = certificateFolder();
  folder.write('ca.pem', authority.cert);
  const gateway = await startTestGateway(
    {
      server: { egress: { ca: folder.path('ca.pem'), ...egress }, reload: { watch: false, debounce: '20ms' } },
      catalog: {
        providers: [
          {
            slug: 'vendor',
            provider: 'openai',
            api_key: '${env:NONE:-the-vendor-key}',
            base_url: `https://${HOST}/v1`,
            ...entry,
          },
        ],
      },
    },
    { env, lookup: nowhere },
  );
  onTestFinished(() => gateway.close());
  return gateway;
}

async function chat({ url }: TestGateway): Promise<{ status: number; text: string }> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY },
    body: JSON.stringify({ model: '@vendor/m', messages: [{ role: 'user', content: 'hi' }] }),
  });
  return { status: response.status, text: await response.text() };
}

describe('a proxy for upstreams', () => {
  it('gets a tunnel for an https upstream, whose name it resolves itself, and sees nothing in it', async () => {
    const upstream = await startSecureUpstream();
    const proxy = await startProxy({
      resolve: () => ({ host: '127.0.0.1', port: upstream.port }),
      credentials: 'user:canary-password',
    });
    const gateway = await start(
      { proxy: `http://127.0.0.1:${proxy.port}`, proxy_credentials: '${env:PROXY_CREDENTIALS}' },
      {},
      { PROXY_CREDENTIALS: 'user:canary-password' },
    );
    expect((await chat(gateway)).status).toBe(200);
    expect((await chat(gateway)).status).toBe(200);
    // One connection serves both, and the upstream never sees the credentials of the proxy.
    expect(proxy.asked).toEqual([`CONNECT ${HOST}:443`]);
    expect(upstream.seen).toEqual(Array.from({ length: 2 }, () => `POST ${HOST}/v1/chat/completions -`));
    expect(gateway.logText()).not.toContain('canary');
    expect(JSON.stringify(gateway.gateway.records({ limit: 10 }))).not.toContain('canary');
    const metrics = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
    expect(metrics).not.toContain('canary');
  });

  it('that speaks TLS itself is verified and used', async () => {
    const upstream = await startSecureUpstream();
    const proxy = await startProxy({ resolve: () => ({ host: '127.0.0.1', port: upstream.port }), tls: issued });
    const gateway = await start({ proxy: `https://127.0.0.1:${proxy.port}` });
    expect((await chat(gateway)).status).toBe(200);
    expect(proxy.asked).toEqual([`CONNECT ${HOST}:443`]);
    const strangers = new Authority('Strangers');
    onTestFinished(() => strangers.close());
    const other = await startProxy({ tls: strangers.issue() });
    const refused = await start({ proxy: `https://127.0.0.1:${other.port}` });
    expect(await chat(refused)).toMatchObject({ status: 502, text: expect.stringContaining('tls_failed') });
    expect(other.asked).toEqual([]);
  });

  it('comes from the environment only where the settings say so', async () => {
    const upstream = await startSecureUpstream();
    const proxy = await startProxy({
      resolve: () => ({ host: '127.0.0.1', port: upstream.port }),
      credentials: 'a b:c@d',
    });
    const env = { HTTPS_PROXY: `http://a%20b:c%40d@127.0.0.1:${proxy.port}` };
    expect((await chat(await start({}, {}, env))).status).toBe(502);
    expect((await chat(await start({ proxy: 'none' }, {}, env))).status).toBe(502);
    expect(proxy.asked).toEqual([]);
    expect((await chat(await start({ proxy: 'env' }, {}, env))).status).toBe(200);
    expect(proxy.asked).toEqual([`CONNECT ${HOST}:443`]);
    expect(
      (await chat(await start({ proxy: 'env' }, {}, { ...env, NO_PROXY: 'other.example,.vendor.example' }))).status,
    ).toBe(502);
    expect(proxy.asked).toHaveLength(1);
  });

  it('reads the requests for an http upstream, without a tunnel', async () => {
    const upstream = await startUpstream((_, res) => json(res, openaiReply('hi')));
    onTestFinished(() => upstream.close());
    const { port } = new URL(upstream.url);
    const proxy = await startProxy({ resolve: () => ({ host: '127.0.0.1', port: Number(port) }), credentials: 'u:p' });
    const gateway = await start(
      { proxy: `http://127.0.0.1:${proxy.port}`, proxy_credentials: '${env:CREDENTIALS}' },
      { base_url: 'http://models.inner.example/v1', allow_insecure: true },
      { CREDENTIALS: 'u:p' },
    );
    expect((await chat(gateway)).status).toBe(200);
    expect(proxy.asked).toEqual(['POST http://models.inner.example/v1/chat/completions']);
    expect(upstream.seen[0]?.headers).toMatchObject({ host: 'models.inner.example' });
    expect(upstream.seen[0]?.headers).not.toHaveProperty('proxy-authorization');
  });

  it('leaves loopback and the hosts of no_proxy to the gateway', async () => {
    const upstream = await startUpstream((_, res) => json(res, openaiReply('hi')));
    onTestFinished(() => upstream.close());
    const proxy = await startProxy();
    const gateway = await start(
      { proxy: `http://127.0.0.1:${proxy.port}` },
      { base_url: `${upstream.url}/v1`, allow_insecure: true },
    );
    expect((await chat(gateway)).status).toBe(200);
    expect(proxy.asked).toEqual([]);
  });

  it.each([
    ['a literal inner address', 'https://10.1.2.3/v1', {}],
    ['the address of a metadata server', 'https://169.254.169.254/v1', { allow_insecure: true }],
    ['a name of an inner network', 'https://vault.internal/v1', {}],
    ['a name without a domain', 'https://vault/v1', {}],
    ['the name of a metadata server', 'https://metadata.goog/v1', { allow_insecure: true }],
  ])('is not asked for %s', async (_, base_url, entry) => {
    const proxy = await startProxy();
    // The settings refuse some of them by themselves.
    const gateway = await start({ proxy: `http://127.0.0.1:${proxy.port}` }, { base_url, ...entry }).catch(
      () => undefined,
    );
    if (gateway)
      expect(await chat(gateway)).toMatchObject({ status: 502, text: expect.stringContaining('egress_refused') });
    expect(proxy.asked).toEqual([]);
  });

  it.each([
    ['demands credentials', 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n', /407: it demands other credentials/],
    ['refuses', 'HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n', /\(403\)/],
    ['speaks something else', 'SSH-2.0-OpenSSH\r\n\r\n', /not HTTP/],
    ['never ends its head', 'x'.repeat(40_000), /too long/],
    ['closes', '', /it closed the connection/],
    ['sends bytes into the tunnel', 'HTTP/1.1 200 OK\r\n\r\n\x16\x03\x01', /bytes of its own/],
  ])('that %s fails the attempt with its reason and no more', async (_, answer, reason) => {
    const proxy = await startProxy({ answer });
    const url = `http://127.0.0.1:${proxy.port}`;
    const gateway = await start(
      { proxy: url, proxy_credentials: '${env:C}' },
      {},
      { C: 'canary-user:canary-password' },
    );
    const { status, text } = await chat(gateway);
    expect([status, text]).toEqual([502, expect.stringMatching(reason)]);
    expect(text).not.toContain('canary');
    expect(text).not.toContain(String(proxy.port));
    expect(gateway.logText()).not.toContain('canary');
  });

  it('that never answers costs the time for a connection', async () => {
    const proxy = await startProxy({ answer: null });
    const gateway = await start({ proxy: `http://127.0.0.1:${proxy.port}` }, {});
    const config = JSON.stringify({ provider: '@vendor', timeouts: { connect: 200 } });
    writeFileSync(join(gateway.configs, 'gateway', 'quick.yaml'), config);
    await gateway.gateway.reload();
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, 'x-gateway-config': 'quick' },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }),
    });
    expect([response.status, await response.text()]).toEqual([504, expect.stringContaining('timeout_connect')]);
  });

  it('takes the requests for access tokens too', async () => {
    const upstream = await startSecureUpstream((req, res) => {
      req.resume();
      if (req.url === '/token') json(res, { access_token: 'a-token', expires_in: 3600, token_type: 'Bearer' });
      else json(res, openaiReply('hi'));
    });
    const proxy = await startProxy({ resolve: () => ({ host: '127.0.0.1', port: upstream.port }) });
    const account = {
      type: 'service_account',
      project_id: 'test-project',
      private_key: testPrivateKey(),
      client_email: 'a@b.iam.gserviceaccount.com',
    };
    const gateway = await start(
      { proxy: `http://127.0.0.1:${proxy.port}` },
      {
        provider: 'vertex-ai',
        region: 'us-central1',
        api_key: undefined,
        base_url: undefined,
        service_account: '${env:ACCOUNT}',
      },
      { ACCOUNT: JSON.stringify(account) },
    );
    await chat(gateway);
    expect(proxy.asked[0]).toBe('CONNECT oauth2.googleapis.com:443');
    expect(upstream.seen[0]).toBe('POST oauth2.googleapis.com/token -');
  });

  it('changes with a reload: the next request takes the new way', async () => {
    const upstream = await startSecureUpstream();
    const resolve = () => ({ host: '127.0.0.1', port: upstream.port });
    const [first, second] = [await startProxy({ resolve }), await startProxy({ resolve })];
    const gateway = await start({ proxy: 'env' }, {}, { HTTPS_PROXY: `127.0.0.1:${first.port}` });
    expect((await chat(gateway)).status).toBe(200);
    const folder = certificateFolder();
    folder.write('ca.pem', authority.cert);
    const loopback = { host: '127.0.0.1', port: 0 };
    const egress = { proxy: `http://127.0.0.1:${second.port}`, ca: folder.path('ca.pem') };
    const server = { listen: loopback, status: loopback, admin: { port: 0 }, reload: { watch: false }, egress };
    writeFileSync(join(gateway.configs, 'server.yaml'), JSON.stringify(server));
    expect((await gateway.gateway.reload()).outcome).toBe('changed');
    expect((await chat(gateway)).status).toBe(200);
    expect([first.asked.length, second.asked.length]).toEqual([1, 1]);
  });
});

describe('the authorities of `egress.ca`', () => {
  it('are used besides the public ones, and without them the upstream is refused', async () => {
    const upstream = await startSecureUpstream();
    const entry = { base_url: `https://127.0.0.1:${upstream.port}/v1`, allow_insecure: true };
    expect((await chat(await start({}, entry))).status).toBe(200);
    const refused = await chat(await start({ ca: undefined }, entry));
    expect(refused).toMatchObject({ status: 502, text: expect.stringContaining('tls_failed') });
  });
});
