import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { doctorCommand, type DoctorOptions } from '../../src/addons/doctor/doctor.ts';
import type { Finding } from '../../src/core/process/finding.ts';
import { testPrivateKey } from '../../src/core/providers/setup.testkit.ts';
import { Authority } from '../../src/core/settings/read/certificates.testkit.ts';
import { startTestGateway, writeSettings, type TestSettings } from '../support/gateway.ts';
import { certificateFolder } from './tls.testkit.ts';
import { startProxy } from './proxy.testkit.ts';

const authority = new Authority();
afterAll(() => authority.close());
const CANARY = 'canary-secret-of-the-operator';

/** No name leads out of this machine. */
const lookup = (): Promise<readonly string[]> =>
  Promise.reject(Object.assign(new Error('none'), { code: 'ENOTFOUND' }));
const SOUND_SYSTEM: Readonly<Record<string, string>> = {
  '/proc/self/limits': 'Max open files            1048576              1048576              files\n',
  '/sys/fs/cgroup/memory.max': 'max\n',
};

interface Ran {
  readonly code: number;
  readonly findings: readonly Finding[];
  readonly text: string;
  of(check: string): string | undefined;
}

async function doctor(settings: TestSettings, options: Partial<DoctorOptions> = {}): Promise<Ran> {
  const dir = options.dir ?? writeSettings(settings);
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  let text = '';
  const out = (piece: string): void => void (text += piece);
  const code = await doctorCommand({
    dir,
    env: {},
    json: true,
    offline: false,
    timeoutMs: 2000,
    read: (path) => SOUND_SYSTEM[path],
    lookup,
    out,
    err: out,
    ...options,
  });
  expect(text).not.toContain('canary');
  const findings = options.json === false ? [] : (JSON.parse(text) as { findings: readonly Finding[] }).findings;
  const of = (check: string): string | undefined => {
    const found = findings.find((one) => one.check === check);
    return found && `${found.status}: ${found.message}`;
  };
  return { code, findings, text, of };
}

/** A TLS server that counts connections and the requests on them. */
/** @param refusal its answer in place of a token */
async function startServer(refusal?: object) {
  const issued = authority.issue({ names: 'IP:127.0.0.1,DNS:oauth2.googleapis.com' });
  const seen: string[] = [];
  let connections = 0;
  const server = createServer({ cert: issued.cert, key: issued.key }, (req, res) => {
    seen.push(`${req.method} ${req.url}`);
    req.resume();
    const date = new Date(Date.now() - 3_600_000).toUTCString();
    res.writeHead(refusal ? 400 : 200, { 'content-type': 'application/json', date });
    res.end(JSON.stringify(refusal ?? { access_token: CANARY, expires_in: 3600, token_type: 'Bearer' }));
  });
  server.on('connection', () => (connections += 1));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const folder = certificateFolder();
  folder.write('ca.pem', authority.cert);
  // A TCP server has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  return { port, seen, connections: () => connections, ca: folder.path('ca.pem') };
}

const openai = (port: number) => ({
  slug: 'own',
  provider: 'openai',
  api_key: '${env:OWN_KEY}',
  base_url: `https://127.0.0.1:${port}/v1`,
  allow_insecure: true,
});

/** Runs doctor with an entry of Vertex AI behind a proxy with credentials; its names lead to the server. */
async function doctorBehindProxy(server: Awaited<ReturnType<typeof startServer>>) {
  const proxy = await startProxy({
    resolve: () => ({ host: '127.0.0.1', port: server.port }),
    credentials: `u:${CANARY}`,
  });
  const account = {
    type: 'service_account',
    project_id: 'test-project',
    private_key: testPrivateKey(),
    client_email: 'a@b.iam.gserviceaccount.com',
  };
  const ran = await doctor(
    {
      catalog: {
        providers: [
          { slug: 'vertex', provider: 'vertex-ai', region: 'us-central1', service_account: '${env:ACCOUNT}' },
        ],
      },
      server: {
        egress: { ca: server.ca, proxy: `http://127.0.0.1:${proxy.port}`, proxy_credentials: '${env:PROXY}' },
      },
    },
    { env: { ACCOUNT: JSON.stringify(account), PROXY: `u:${CANARY}` } },
  );
  return { ...ran, proxy };
}

describe('gatehouse doctor', () => {
  it('finds nothing wrong with sound settings on a sound machine', async () => {
    const { code, findings, of } = await doctor({});
    expect(findings.filter(({ status }) => status === 'error' || status === 'warning')).toEqual([]);
    expect(code).toBe(0);
    expect(of('settings')).toMatch(/^ok: /);
    expect(of('version')).toMatch(/^ok: Gatehouse \d/);
    expect(of('node')).toMatch(/^ok: Node \d/);
  });

  it('connects to a provider through TLS and sends nothing', async () => {
    const server = await startServer();
    const settings = { catalog: { providers: [openai(server.port)] }, server: { egress: { ca: server.ca } } };
    const { code, of } = await doctor(settings, { env: { OWN_KEY: CANARY } });
    expect(of(`address https://127.0.0.1:${server.port}`)).toBe('ok: @own: reached, nothing sent');
    expect(of('credentials @own')).toMatch(/^ok: given/);
    expect([code, server.connections(), server.seen]).toEqual([0, 1, []]);
    const untrusted = await doctor({ catalog: { providers: [openai(server.port)] } }, { env: { OWN_KEY: CANARY } });
    expect(untrusted.of(`address https://127.0.0.1:${server.port}`)).toMatch(/^error: @own: TLS with /);
    expect(untrusted.code).toBe(1);
  });

  it('fetches a token through the proxy, and compares the clock with its Date', async () => {
    const server = await startServer();
    const { of, proxy } = await doctorBehindProxy(server);
    expect(of('credentials @vertex')).toBe('ok: an access token was fetched');
    expect(server.seen).toEqual(['POST /token']);
    expect(of('clock')).toMatch(/^warning: 3(599|600|601) s ahead of a token endpoint/);
    expect(proxy.asked).toContain('CONNECT oauth2.googleapis.com:443');
    // The certificate of the test is not that of the provider, and nothing was sent to find out.
    expect(of('address https://us-central1-aiplatform.googleapis.com')).toMatch(/^error: @vertex: TLS with /);
  });

  it('prints no secret that a server quotes in its refusal', async () => {
    const server = await startServer({ error: 'invalid_grant', error_description: `no account of u:${CANARY}` });
    const { of } = await doctorBehindProxy(server);
    expect(of('credentials @vertex')).toMatch(/^error: .*no account of \[secret\]/);
  });

  it('says what is wrong, whatever it is, and how long it waits is bounded', async () => {
    const silent = createTcpServer(() => {});
    await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening));
    onTestFinished(() => void silent.close());
    // A TCP server has an AddressInfo.
    const { port } = silent.address() as AddressInfo;
    const { code, of } = await doctor(
      {
        catalog: {
          providers: [
            openai(port),
            { slug: 'lost', provider: 'openai', api_key: '${env:OWN_KEY}', base_url: 'https://api.vendor.example/v1' },
          ],
        },
        server: { listen: { host: '127.0.0.1', port }, limits: { in_flight: 2000 } },
      },
      {
        env: { OWN_KEY: CANARY, HTTPS_PROXY: `http://u:${CANARY}@127.0.0.1:1` },
        timeoutMs: 300,
        read: (path) =>
          path.includes('limits')
            ? 'Max open files            1024                 4096                 files\n'
            : '268435456\n',
      },
    );
    expect(code).toBe(1);
    expect(of(`address https://127.0.0.1:${port}`)).toMatch(/^error: @own: .*300 ms/);
    expect(of('address https://api.vendor.example')).toMatch(/^error: @lost: api\.vendor\.example cannot be resolved/);
    expect(of(`port ${port}`)).toMatch(/^error: .*another program uses it$/);
    expect(of('open files')).toMatch(/^warning: 1024 may be open/);
    expect(of('memory')).toMatch(/^warning: a limit of 256 MiB/);
    expect(of('proxy')).toMatch(/^warning: HTTPS_PROXY is set and not used/);
  });

  it('reports settings with mistakes at their place, and checks no more', async () => {
    const { code, findings, of } = await doctor({ catalog: 'providers: [{ slug: a, provider: no-such-vendor }]\n' });
    expect(code).toBe(1);
    expect(findings.some(({ status, message }) => status === 'error' && /catalog\.yaml:1:\d+: /.test(message))).toBe(
      true,
    );
    expect(of('everything else')).toMatch(/^skipped/);
    const missing = await doctor({}, { dir: join(tmpdir(), 'no-such-folder-of-gatehouse') });
    expect(missing.code).toBe(1);
  });

  it('knows the ports of a gateway that runs, the days of a certificate and the folder of the store', async () => {
    const running = await startTestGateway();
    onTestFinished(() => running.close());
    const [data, status] = [running.url, running.statusUrl].map((url) => Number(new URL(url).port));
    const folder = certificateFolder();
    folder.install(authority.issue());
    const state = mkdtempSync(join(tmpdir(), 'gatehouse-doctor-'));
    onTestFinished(() => rmSync(state, { recursive: true, force: true }));
    const { code, of } = await doctor({
      server: {
        listen: { host: '127.0.0.1', port: data },
        status: { host: '127.0.0.1', port: status },
        tls: { cert: folder.cert, key: folder.key },
        state: { store: { type: 'sqlite', dir: state } },
      },
    });
    expect([code, of(`port ${data}`)]).toEqual([0, 'ok: in use by a gateway that runs (`listen`)']);
    expect(of('tls')).toMatch(/^ok: the certificate expires in (29|30) days, on 20/);
    expect(of('state store')).toBe(`ok: ${state} can be written`);
    const file = join(state, 'a-file');
    writeFileSync(file, '');
    const lost = await doctor({ server: { state: { store: { type: 'sqlite', dir: join(file, 'inside') } } } });
    expect(lost.of('state store')).toMatch(/^error: /);
  });

  it('connects to nothing but this machine with --offline, and prints lines without --json', async () => {
    const server = await startServer();
    const settings = { catalog: { providers: [openai(server.port)] } };
    const { code, text } = await doctor(settings, { env: { OWN_KEY: CANARY }, offline: true, json: false });
    expect([code, server.connections()]).toEqual([0, 0]);
    expect(text).toMatch(/^skipped +credentials and addresses: --offline$/m);
    expect(text).toMatch(/^nothing is wrong$/m);
  });
});
