import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

const open: TestGateway[] = [];
afterEach(async () => {
  for (const gateway of open.splice(0)) await gateway.close();
});

async function start(server: object, env: Readonly<Record<string, string>> = {}): Promise<TestGateway> {
  const gateway = await startTestGateway({ server }, { env });
  open.push(gateway);
  return gateway;
}

const hostsOf = ({ gateway: { data, status } }: TestGateway): string[] => [data.host, status.host];
const NO_HOST = { listen: { port: 0 }, status: { port: 0 } };

describe('the listeners of requests and of the status', () => {
  it('are for this machine only where server.yaml names no host', async () => {
    expect(hostsOf(await start(NO_HOST))).toEqual(['127.0.0.1', '127.0.0.1']);
  });

  it('are both opened by GATEHOUSE_HOST', async () => {
    expect(hostsOf(await start(NO_HOST, { GATEHOUSE_HOST: '127.0.0.2' }))).toEqual(['127.0.0.2', '127.0.0.2']);
  });

  it('stay where server.yaml names a host, and where GATEHOUSE_HOST is empty', async () => {
    const listen = { host: '127.0.0.3', port: 0 };
    expect(hostsOf(await start({ ...NO_HOST, listen }, { GATEHOUSE_HOST: '127.0.0.2' }))).toEqual([
      '127.0.0.3',
      '127.0.0.2',
    ]);
    expect(hostsOf(await start(NO_HOST, { GATEHOUSE_HOST: ' ' }))).toEqual(['127.0.0.1', '127.0.0.1']);
  });
});

/** Status of an answer to a GET with these Host headers; none at all is HTTP/1.0's way. */
function statusFor(gateway: TestGateway, hosts: readonly string[], path = '/metrics'): Promise<number> {
  const { port } = gateway.gateway.status;
  return new Promise((resolve, reject) => {
    request({
      host: '127.0.0.1',
      port,
      path,
      agent: false,
      setHost: false,
      headers: hosts.flatMap((host) => ['Host', host]),
    })
      .on('error', reject)
      .on('response', (response) => resolve(response.resume().statusCode ?? 0))
      .end();
  });
}

describe('the status listener', () => {
  it.each(['127.0.0.1:9464', 'localhost', 'LOCALHOST:1', '[::1]:9464', '127.9.9.9'])(
    'answers to %s on loopback',
    async (host) => {
      expect(await statusFor(await start(NO_HOST), [host])).toBe(200);
    },
  );

  it.each(['attacker.example', 'attacker.example:9464', '10.1.2.3:9464', 'localhost.attacker.example', '', 'a b'])(
    'gives nothing on loopback to a browser that was led there by %j',
    async (host) => {
      const gateway = await start(NO_HOST);
      for (const path of ['/metrics', '/readyz?verbose', '/livez', '/'])
        expect(await statusFor(gateway, [host], path), path).toBe(421);
    },
  );

  it('gives nothing to two Host headers', async () => {
    expect(await statusFor(await start(NO_HOST), ['localhost', 'attacker.example'])).toBe(400);
    const everywhere = await start(NO_HOST, { GATEHOUSE_HOST: '0.0.0.0' });
    expect(await statusFor(everywhere, ['localhost', 'attacker.example'])).toBe(400);
  });

  it('answers on loopback to the name that server.yaml gives it', async () => {
    const gateway = await start({ ...NO_HOST, status: { host: 'localhost', port: 0 } });
    expect(await statusFor(gateway, ['localhost:9464'])).toBe(200);
  });

  it.each(['10.1.2.3:9464', 'gatehouse.monitoring.svc', '[fd00::1]:9464', '127.0.0.1'])(
    'answers to %s beyond loopback, as Prometheus and the kubelet call a pod',
    async (host) => {
      const gateway = await start(NO_HOST, { GATEHOUSE_HOST: '0.0.0.0' });
      for (const path of ['/metrics', '/livez', '/readyz'])
        expect(await statusFor(gateway, [host], path), path).toBe(200);
    },
  );
});

describe('every listener at `/` and `/health`', () => {
  const origins = ({ gateway: { data, status, admin } }: TestGateway): readonly (readonly [string, string])[] => [
    ['data', data.url],
    ['status', status.url],
    ['admin', admin!.url],
  ];
  const keyed = { admin: { port: 0, token: 'a-token-that-nothing-here-shows' } };

  it('answers in JSON without a key: links that lead somewhere, no version and no settings', async () => {
    const gateway = await start({ ...NO_HOST, ...keyed });
    for (const [name, origin] of origins(gateway)) {
      const root = await fetch(`${origin}/`);
      expect([name, root.status, root.headers.get('content-type')]).toEqual([
        name,
        200,
        expect.stringContaining('application/json'),
      ]);
      const text = await root.text();
      expect(text).not.toMatch(/\d+\.\d+|token-that|"test"/);
      const { links } = JSON.parse(text) as { links: Record<string, string> };
      expect(Object.keys(links)).toContain('health');
      for (const path of Object.values(links))
        expect([path, (await fetch(origin + path)).status]).toEqual([path, expect.toBeOneOf([200, 401])]);
    }
  });

  it('is healthy there while the gateway takes requests', async () => {
    const gateway = await start({ ...NO_HOST, ...keyed });
    for (const [, origin] of origins(gateway)) {
      const health = await fetch(`${origin}/health`);
      expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
      expect((await fetch(`${origin}/health`, { method: 'HEAD' })).status).toBe(200);
      expect((await fetch(`${origin}/health`, { method: 'POST', body: '{}' })).status).toBeOneOf([401, 404, 405]);
    }
  });
});

it.each(['data', 'status', 'admin'] as const)(
  'A slow body at / or /health of the %s listener holds no socket',
  async (which) => {
    const { gateway } = await start({ ...NO_HOST, admin: { port: 0 } });
    const port = Number(new URL(gateway[which]!.url).port);
    for (const path of ['/', '/health']) {
      const socket = connect(port, '127.0.0.1');
      let text = '';
      socket.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      // The body never ends: only the gateway closes the connection.
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n{`);
      await once(socket, 'close');
      expect(text).toMatch(/^HTTP\/1\.1 200 /);
    }
  },
);
