import { X509Certificate } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { request } from 'node:https';
import { connect } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { startGateway } from '../../src/core/process/gateway.ts';
import { Authority } from '../../src/core/settings/read/certificates.testkit.ts';
import { KEY, startTestGateway, until, writeSettings, type TestGateway } from '../support/gateway.ts';
import { json, openaiReply, startUpstream, type Script } from '../support/upstream.ts';
import { connect as openSocket, refusal } from '../http/websockets/kit.testkit.ts';
import { ask, certificateFolder } from './tls.testkit.ts';

const authority = new Authority();
afterAll(() => authority.close());
const { cert: ca } = authority;
const fingerprintOf = (pem: string): string => new X509Certificate(pem).fingerprint256;
const answers: Script = (_, res) => json(res, openaiReply('hi'));

async function start({ script = answers, server = {} }: { script?: Script; server?: object } = {}) {
  const upstream = await startUpstream(script);
  onTestFinished(() => upstream.close());
  const folder = certificateFolder();
  const first = authority.issue();
  folder.install(first);
  const gateway = await startTestGateway({
    server: { tls: { cert: folder.cert, key: folder.key }, reload: { watch: false, debounce: '20ms' }, ...server },
    catalog: { providers: [{ slug: 'openai', provider: 'simulator', base_url: upstream.url, allow_insecure: true }] },
  });
  onTestFinished(() => gateway.close());
  const port = Number(new URL(gateway.url).port);
  return { gateway, upstream, folder, first, port };
}

const metric = async ({ statusUrl }: TestGateway, name: string): Promise<number> => {
  const text = await (await fetch(`${statusUrl}/metrics`)).text();
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length),
  );
};

describe('the listener with `tls`', () => {
  it('serves HTTP/1.1 over TLS 1.2 and 1.3, and nothing else', async () => {
    const { gateway, port, first } = await start();
    expect(gateway.url).toMatch(/^https:/);
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const answer = await ask(gateway.url, ca, { tls: { minVersion: version, maxVersion: version } });
      expect([version, answer.status, answer.fingerprint]).toEqual([version, 200, fingerprintOf(first.cert)]);
    }
    const offer = (options: object): Promise<string> =>
      new Promise((resolve) => {
        const socket = connectSecurely({ port, host: '127.0.0.1', ca, ...options }, () => {
          resolve(String(socket.alpnProtocol));
          socket.destroy();
        });
        socket.on('error', (error: NodeJS.ErrnoException) => resolve(`refused ${error.code}`));
      });
    expect(await offer({ ALPNProtocols: ['h2', 'http/1.1'] })).toBe('http/1.1');
    expect(await offer({ ALPNProtocols: ['h2'] })).toMatch(/^refused /);
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };
    expect(await offer(old)).toMatch(/^refused /);
    expect(await metric(gateway, 'gatehouse_tls_handshake_failures_total{reason="refused"}')).toBe(2);
    const expiry = await metric(gateway, 'gatehouse_tls_certificate_expiry_timestamp_seconds{listener="data"}');
    expect(expiry).toBe(Date.parse(new X509Certificate(first.cert).validTo) / 1000);
  });

  it('gives new connections a new certificate and leaves open ones alone', async () => {
    let held: ServerResponse | undefined;
    const { gateway, folder, first } = await start({
      script: (_, res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        res.write('data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"begun"}}]}\n\n');
        held = res;
      },
    });
    let text = '';
    const body = JSON.stringify({ model: '@openai/m', stream: true, messages: [{ role: 'user', content: 'hi' }] });
    const ended = new Promise((resolve) => {
      const headers = { 'content-type': 'application/json', 'x-gateway-api-key': KEY };
      const sent = request(
        `${gateway.url}/v1/chat/completions`,
        { method: 'POST', ca, agent: false, headers },
        (res) => {
          res.on('data', (piece: Buffer) => (text += piece.toString()));
          res.on('close', resolve);
        },
      );
      sent.end(body);
    });
    await until(() => text.includes('begun'), 'the stream has begun');

    const second = authority.issue();
    folder.install(second);
    expect((await gateway.gateway.reload()).outcome).toBe('changed');
    const models = { path: '/v1/models', tls: { method: 'GET' } };
    expect((await ask(gateway.url, ca, models)).fingerprint).toBe(fingerprintOf(second.cert));

    // Half of a renewal: the certificate is new, and its key is not there yet.
    folder.write('tls.crt', first.cert);
    const refused = await gateway.gateway.reload();
    expect(refused.outcome).toBe('refused');
    expect(gateway.logText()).toContain('the previous settings still serve');
    expect(gateway.logText()).toContain('is not that of the certificate in `cert`');
    expect((await ask(gateway.url, ca, models)).fingerprint).toBe(fingerprintOf(second.cert));
    folder.write('tls.crt', 'not a certificate');
    expect((await gateway.gateway.reload()).outcome).toBe('refused');
    expect((await ask(gateway.url, ca, models)).fingerprint).toBe(fingerprintOf(second.cert));

    held!.end('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
    await ended;
    expect(text).toContain('[DONE]');
    expect(gateway.logText()).not.toContain(second.key.split('\n')[1]);
  });

  it('reads a certificate again when its file changes', async () => {
    const { gateway, folder } = await start({ server: { reload: { watch: true, debounce: '20ms' } } });
    const second = authority.issue();
    folder.install(second);
    const served = () => gateway.logs.some(({ msg }) => msg === 'settings reloaded');
    await until(served, 'the new certificate is in force');
    const answer = await ask(gateway.url, ca);
    expect(answer.fingerprint).toBe(fingerprintOf(second.cert));
  });

  it('ends connections that do not finish their handshake, and none that do', async () => {
    const { gateway, port } = await start({ server: { limits: { header_time: '1s' } } });
    const closed: string[] = [];
    const open = (name: string, text = ''): void => {
      const socket = connect(port, '127.0.0.1', () => void socket.write(text));
      socket
        .resume()
        .on('error', () => {})
        .on('close', () => closed.push(name));
      onTestFinished(() => void socket.destroy());
    };
    open('silent');
    // The head of a handshake record that announces more than it sends (RFC 8446, section 5.1).
    open('half', Buffer.from('1603010200', 'hex').toString('latin1'));
    open('plain', 'GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    await until(() => closed.length === 3, 'all three are closed');
    expect(closed[0]).toBe('plain');
    expect(await metric(gateway, 'gatehouse_tls_handshake_failures_total{reason="timeout"}')).toBe(2);
    expect((await ask(gateway.url, ca)).status).toBe(200);
  });

  it.each(['GET', 'POST', 'HEAD', 'PUT'])('answers plain HTTP with a 400 that says so: %s', async (method) => {
    const { gateway, port } = await start({ server: { limits: { header_time: '1s' } } });
    for (const allowHalfOpen of [false, true]) {
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen });
      let [text, closed] = ['', false];
      socket.on('data', (bytes) => (text += bytes.toString())).on('error', () => {});
      socket.on('close', () => (closed = true));
      socket.write(
        `${method} /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-length: 300000\r\n\r\n${'a'.repeat(20_000)}`,
      );
      await until(() => text.endsWith('}}'), 'the reply');
      const [head = '', body = ''] = text.split('\r\n\r\n');
      expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
      expect(head).toContain(`content-length: ${body.length}`);
      expect(JSON.parse(body)).toMatchObject({
        error: { message: expect.stringContaining('https://'), code: 'malformed_request' },
      });
      // A client that keeps its half open loses it with the time of a handshake.
      await until(() => (socket.write('a'), closed || socket.destroyed), 'the connection has ended');
    }
    await until(
      async () => (await metric(gateway, 'gatehouse_tls_handshake_failures_total{reason="refused"}')) === 2,
      'both are counted',
    );
    expect((await ask(gateway.url, ca)).status).toBe(200);
  });

  it('keeps a bounded number of handshakes, and the newest of them', async () => {
    const { gateway, port } = await start({ server: { limits: { in_flight: 4 } } });
    let closed = 0;
    for (let count = 0; count < 20; count += 1) {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => {}).on('close', () => (closed += 1));
      onTestFinished(() => void socket.destroy());
    }
    await until(() => closed >= 16, 'the oldest are closed');
    expect((await ask(gateway.url, ca)).status).toBe(200);
    expect(await metric(gateway, 'gatehouse_tls_handshake_failures_total{reason="full"}')).toBeGreaterThanOrEqual(16);
  });

  it('stops at once while handshakes are under way', async () => {
    const { gateway, port } = await start();
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    await new Promise((resolve) => socket.once('connect', resolve));
    await ask(gateway.url, ca);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const from = performance.now();
    await gateway.gateway.close();
    await closed;
    // A handshake that nothing ends has 15 s.
    expect(performance.now() - from).toBeLessThan(8_000);
  });

  it('turns on and off only with a restart', async () => {
    const { gateway, folder } = await start();
    const loopback = { host: '127.0.0.1', port: 0 };
    const server = { listen: loopback, status: loopback, admin: { port: 0 }, reload: { watch: false } };
    writeFileSync(`${gateway.configs}/server.yaml`, JSON.stringify(server));
    expect((await gateway.gateway.reload()).outcome).toBe('refused');
    expect(gateway.logText()).toContain('`tls` changes only with a restart: on → off');
    folder.write('clients.pem', ca);
    const tls = { cert: folder.cert, key: folder.key, client_ca: folder.path('clients.pem') };
    writeFileSync(`${gateway.configs}/server.yaml`, JSON.stringify({ ...server, tls }));
    expect((await gateway.gateway.reload()).outcome).toBe('refused');
    expect(gateway.logText()).toContain('`tls.client_ca` changes only with a restart: off → on');
  });
});

describe('the admin listener with `admin.tls`', () => {
  it('answers over TLS only', async () => {
    const folder = certificateFolder();
    folder.install(authority.issue());
    const gateway = await startTestGateway({
      server: { admin: { port: 0, tls: { cert: folder.cert, key: folder.key } } },
    });
    onTestFinished(() => gateway.close());
    const { url } = gateway.gateway.admin!;
    expect(url).toMatch(/^https:/);
    const answer = await ask(url, ca, { path: '/admin/v1/requests', headers: {}, tls: { method: 'GET' } });
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([200, { items: [], oldest: null, partial: [] }]);
    const plain = await fetch(url.replace('https:', 'http:'));
    expect([plain.status, await plain.text()]).toEqual([400, expect.stringContaining('https://')]);
  });
});

describe('certificates of clients', () => {
  const strangers = new Authority('Strangers');
  afterAll(() => strangers.close());
  const search = authority.issue({
    commonName: 'search',
    names: 'URI:spiffe://example.com/search,DNS:Search.example.com',
  });
  const other = authority.issue({ commonName: 'other', names: 'DNS:other.example.com' });
  const stranger = strangers.issue({ commonName: 'search', names: 'URI:spiffe://example.com/search' });
  const own = { subject_alt_name: 'spiffe://example.com/search' };
  const keys = [
    { id: 'anyone', key: `\${env:NONE:-${KEY}}` },
    { id: 'search', key: '${env:NONE:-the-key-of-search}', client_certificate: own },
  ];

  async function startMutual() {
    const folder = certificateFolder();
    folder.install(authority.issue());
    folder.write('clients.pem', ca);
    const upstream = await startUpstream(answers);
    onTestFinished(() => upstream.close());
    const loopback = { host: '127.0.0.1', port: 0 };
    const configs = writeSettings({
      server: {
        listen: loopback,
        status: loopback,
        admin: { port: 0 },
        tls: { cert: folder.cert, key: folder.key, client_ca: folder.path('clients.pem') },
        reload: { watch: false, debounce: '20ms' },
      },
      catalog: {
        providers: [
          { slug: 'openai', provider: 'simulator', base_url: upstream.url, allow_insecure: true },
          { slug: 'sim', provider: 'simulator' },
        ],
      },
      keys: { keys },
    });
    onTestFinished(() => rmSync(configs, { recursive: true, force: true }));
    // Not `startTestGateway`, which compares with explain: explain knows no certificates.
    const gateway = await startGateway({ configs, env: {}, logTo: { write: () => {} } });
    onTestFinished(() => gateway.close());
    return { gateway, url: gateway.data.url, folder };
  }

  it.each([
    ['without a certificate', undefined, KEY, 401, /no client certificate/],
    ['with one that another authority signed', stranger, KEY, 401, /not accepted/],
    ['with one and a key that demands none', other, KEY, 200, undefined],
    ['with one and no key', other, undefined, 401, /No gateway key/],
    [
      'with one and the key that demands another',
      other,
      'the-key-of-search',
      401,
      /demands another client certificate/,
    ],
    ['with the certificate and its key', search, 'the-key-of-search', 200, undefined],
    ['with the certificate alone', search, undefined, 200, undefined],
    ['with the certificate and a made-up key, as SDKs send one', search, 'unused', 200, undefined],
  ])('a request %s', async (_, issued, key, status, message) => {
    const { url } = await startMutual();
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const answer = await ask(url, ca, { headers, tls: { ...issued } });
    expect(answer.status).toBe(status);
    if (message) expect(JSON.parse(answer.text)).toMatchObject({ error: { message: expect.stringMatching(message) } });
  });

  it('are refused in the API of each client', async () => {
    const { url } = await startMutual();
    const messages = await ask(url, ca, { path: '/v1/messages' });
    expect([messages.status, JSON.parse(messages.text)]).toMatchObject([
      401,
      { type: 'error', error: { type: 'authentication_error' } },
    ]);
    const gemini = await ask(url, ca, { path: '/v1beta/models/m:generateContent' });
    expect([gemini.status, JSON.parse(gemini.text)]).toMatchObject([401, { error: { status: 'UNAUTHENTICATED' } }]);
  });

  it('identify the key in the record of a request', async () => {
    const { gateway, url } = await startMutual();
    await ask(url, ca, { headers: {}, tls: search });
    expect(gateway.records({ limit: 1 })).toMatchObject([{ key_id: 'search' }]);
  });

  it('identify the key of each turn of a WebSocket, and a handshake without one is refused', async () => {
    const { gateway, url, folder } = await startMutual();
    const headers = { authorization: 'Bearer unused' };
    expect(await refusal({ url }, { ca, headers })).toMatchObject({ status: 401, code: 'invalid_client_certificate' });
    const client = await openSocket({ url }, { ca, ...search, headers });
    const turn = async () => (await client.turn({ model: '@sim/demo', input: 'hi' })).at(-1);
    expect(await turn()).toMatchObject({ type: 'response.completed' });
    expect(await turn()).toMatchObject({ type: 'response.completed' });
    expect(gateway.records({ limit: 2 })).toMatchObject([{ key_id: 'search' }, { key_id: 'search' }]);
    // A reload changes the authorities for new connections.
    folder.write('clients.pem', strangers.cert);
    expect((await gateway.reload()).outcome).toBe('changed');
    expect(await turn()).toMatchObject({ type: 'response.completed' });
    expect(await refusal({ url }, { ca, ...search })).toMatchObject({
      status: 401,
      code: 'invalid_client_certificate',
    });
  });

  it('are verified by the authorities in force, in a session that older ones let in too', async () => {
    const { gateway, url, folder } = await startMutual();
    const sessions: Buffer[] = [];
    const { port } = new URL(url);
    await new Promise<void>((resolve) => {
      const socket = connectSecurely({ port: Number(port), host: '127.0.0.1', ca, ...search }, () => {
        socket.write('GET /v1/models HTTP/1.1\r\nhost: localhost\r\n\r\n');
        socket.once('data', () => socket.destroy());
      });
      socket.on('session', (session) => sessions.push(session)).on('close', () => resolve());
    });
    folder.write('clients.pem', strangers.cert);
    expect((await gateway.reload()).outcome).toBe('changed');
    const [session] = sessions;
    expect(session).toBeDefined();
    const answer = await ask(url, ca, { tls: { ...search, ...(session && { session }) } });
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([
      401,
      { error: { code: 'invalid_client_certificate' } },
    ]);
    const now = await ask(url, ca, { tls: stranger });
    expect(now.status).toBe(200);
  });

  it('of a resumed session without one count as none', async () => {
    const { url } = await startMutual();
    const { port } = new URL(url);
    let session: Buffer | undefined;
    await new Promise<void>((resolve) => {
      const socket = connectSecurely({ port: Number(port), host: '127.0.0.1', ca }, () => {
        socket.write('GET /v1/models HTTP/1.1\r\nhost: localhost\r\n\r\n');
        socket.once('data', () => socket.destroy());
      });
      socket.on('session', (one) => (session = one)).on('close', () => resolve());
    });
    expect(session).toBeDefined();
    const answer = await ask(url, ca, { tls: session ? { session } : {} });
    expect(answer.status).toBe(401);
  });
});
