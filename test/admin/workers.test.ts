import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { Fleet } from '../cli/workers.testkit.ts';
import { appears, send } from './kit.ts';

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

describe('worker processes', () => {
  it('take keys that the admin API of the primary has written', { timeout: 60_000 }, async () => {
    const top = mkdtempSync(join(tmpdir(), 'gatehouse-fleet-'));
    ended.push(() => rmSync(top, { recursive: true, force: true }));
    const folder = join(top, 'state');
    const port = await freePort();
    const server = {
      admin: { port },
      state: { store: { type: 'sqlite', dir: folder }, owns: ['keys'] },
    };
    const fleet = new Fleet({ upstream: 'http://127.0.0.1:1', server });
    ended.push(() => fleet.end());
    const { url } = await fleet.listens();
    // A free port of its own: the first line that the gateway prints names those of the other listeners only.
    const admin = `http://127.0.0.1:${port}`;
    const file = join(folder, 'bootstrap-token');
    await appears(file);
    const bootstrap = readFileSync(file, 'utf8').trim();
    const token = (
      await send(admin, 'POST', '/admin/v1/tokens', { token: bootstrap, body: { id: 'ann', role: 'admin' } })
    ).json.token as string;
    const made = await send(admin, 'POST', '/admin/v1/keys', { token, body: { id: 'batch' } });
    // Each request on a connection of its own, so that another worker may take it.
    const statuses = async (): Promise<Set<number>> => {
      const headers = { authorization: `Bearer ${made.json.key as string}`, connection: 'close' };
      const asked = Array.from({ length: 8 }, () =>
        fetch(`${url}/v1/models`, { headers }).then((reply) => reply.status),
      );
      return new Set(await Promise.all(asked));
    };
    const become = async (status: number): Promise<void> => {
      for (let tries = 0; tries < 200; tries += 1) {
        const seen = await statuses();
        if (seen.size === 1 && seen.has(status)) return;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      throw new Error(`the key never got ${status} of all workers`);
    };
    await become(200);
    expect(
      (await send(admin, 'POST', '/admin/v1/keys/batch:revoke', { token, body: {}, headers: { 'if-match': '*' } }))
        .status,
    ).toBe(200);
    await become(401);
  });
});
