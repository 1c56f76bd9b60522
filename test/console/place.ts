import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request as send, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { appears } from '../admin/kit.ts';
import { Fleet } from '../cli/workers.testkit.ts';

/** Where a team has its gateway. */
export interface PlaceSetup {
  /** Of a proxy in front of the listener for operators; '' is none. */
  readonly prefix: '' | '/tools/gw';
  /** Processes that serve; `none` is the one of `npm start`. */
  readonly workers: 'none' | '2';
  readonly store: boolean;
  /** Beside server.yaml. */
  readonly files: Readonly<Record<string, string>>;
  readonly upstream: string;
}

export interface Place {
  /** The address of the page. */
  readonly page: string;
  /** The address of applications. */
  readonly url: string;
  readonly configs: string;
  /** Signs in, where the gateway has a store. */
  readonly token: string | undefined;
  /** All that the process has written. */
  said(): string;
  close(): Promise<void>;
}

const portOf = (server: Server): number => {
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
};

const listening = (server: Server): Promise<number> =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(portOf(server))));

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listening(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A proxy that has the listener under a prefix, and nothing else. */
async function startProxy(prefix: string, port: number): Promise<{ readonly port: number; close(): Promise<void> }> {
  const server = createServer((incoming, outgoing) => {
    const path = incoming.url?.startsWith(`${prefix}/`) ? incoming.url.slice(prefix.length) : undefined;
    if (path === undefined) return void outgoing.writeHead(404).end();
    const { method, headers } = incoming;
    const passed = send({ host: '127.0.0.1', port, path, method, headers }, (reply) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    outgoing.on('close', () => passed.destroy());
    incoming.pipe(passed);
  });
  return {
    port: await listening(server),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The gateway as a process of its own, as people start it. */
export async function startPlace({ prefix, workers, store, files, upstream }: PlaceSetup): Promise<Place> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-journey-'));
  const state = {
    store: { type: 'sqlite', dir: folder },
    owns: ['keys', 'budgets', 'providers'],
    encryption_keys: `k1:${randomBytes(32).toString('base64')}`,
    records: { days: 1 },
  };
  const fleet = new Fleet({
    upstream,
    workers,
    server: { admin: { port, role: 'operator', explain: 'all' }, ...(store && { state }) },
    gateway: { production: {} },
    files,
  });
  const { url } = await fleet.listens();
  const admin = `http://127.0.0.1:${port}`;
  const proxy = prefix === '' ? undefined : await startProxy(prefix, port);
  return {
    page: proxy ? `http://127.0.0.1:${proxy.port}${prefix}/ui/` : `${admin}/ui/`,
    url,
    configs: fleet.dir,
    token: store ? await adminToken(admin, folder) : undefined,
    said: () => fleet.said,
    async close() {
      await proxy?.close();
      await fleet.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function adminToken(admin: string, folder: string): Promise<string> {
  const file = join(folder, 'bootstrap-token');
  await appears(file);
  const answer = await fetch(`${admin}/admin/v1/tokens`, {
    method: 'POST',
    headers: { authorization: `Bearer ${readFileSync(file, 'utf8').trim()}`, 'content-type': 'application/json' },
    body: JSON.stringify({ id: 'ann', role: 'admin' }),
  });
  return ((await answer.json()) as { token: string }).token;
}
