import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { KEYS } from '../../src/addons/budgets/store/contract/opened-store.testkit.ts';
import { Fleet } from '../cli/workers.testkit.ts';
import { KEY } from '../support/gateway.ts';
import { json, openaiReply, startUpstream } from '../support/upstream.ts';
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
  it('take keys that the admin API of the primary has written', { timeout: 120_000 }, async () => {
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

  it(
    'take prices that the admin API has written, and its webhooks get their alerts',
    { timeout: 120_000 },
    async () => {
      const top = mkdtempSync(join(tmpdir(), 'gatehouse-fleet-'));
      ended.push(() => rmSync(top, { recursive: true, force: true }));
      const usage = { prompt_tokens: 1000, completion_tokens: 1000, total_tokens: 2000 };
      const upstream = await startUpstream((_, res) => json(res, openaiReply('ok', { usage })));
      const receiver = await startUpstream((_, res) => void res.end());
      ended.push(() => Promise.all([upstream.close(), receiver.close()]));
      const folder = join(top, 'state');
      const port = await freePort();
      const server = {
        admin: { port },
        default_config: 'default',
        state: {
          store: { type: 'sqlite', dir: folder },
          owns: ['prices', 'alerts'],
          encryption_keys: `\${env:NONE:-${KEYS}}`,
        },
      };
      const gateway = { default: { provider: '@own', reply_headers: ['cost'] } };
      const fleet = new Fleet({ upstream: upstream.url, server, gateway });
      ended.push(() => fleet.end());
      const { url } = await fleet.listens();
      const admin = `http://127.0.0.1:${port}`;
      const file = join(folder, 'bootstrap-token');
      await appears(file);
      const bootstrap = readFileSync(file, 'utf8').trim();
      const body = { id: 'ann', role: 'admin' };
      const token = (await send(admin, 'POST', '/admin/v1/tokens', { token: bootstrap, body })).json.token as string;
      const create = async (path: string, spec: object): Promise<void> => {
        const made = await send(admin, 'POST', `/admin/v1/${path}`, { token, body: { id: 'own', spec } });
        expect([path, made.status]).toEqual([path, 201]);
      };
      // Each request on a connection of its own, so that another worker may take it.
      const costs = async (model: string): Promise<readonly (string | null)[]> => {
        const headers = { authorization: `Bearer ${KEY}`, connection: 'close', 'content-type': 'application/json' };
        const sent = JSON.stringify({ model, max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] });
        const ask = () => fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body: sent });
        const replies = await Promise.all(Array.from({ length: 8 }, ask));
        await Promise.all(replies.map((reply) => reply.arrayBuffer()));
        return [...new Set(replies.map((reply) => reply.headers.get('x-gateway-cost-usd')))];
      };
      expect(await costs('m-new')).toEqual(['unknown']);
      await create('prices', { model: 'm-new', usd: { input: 2, output: 2 } });
      await vi.waitFor(async () => expect(await costs('m-new')).toEqual(['0.004']), { timeout: 60_000, interval: 100 });
      const webhook = { url: `${receiver.url}/hook`, secret: `whsec_${Buffer.alloc(32, 9).toString('base64')}` };
      await create('alerts', { ...webhook, kinds: ['unknown_price'], allow_insecure: true });
      let count = 0;
      await vi.waitFor(
        async () => {
          await costs(`m-unknown-${(count += 1)}`);
          expect(receiver.seen.length).toBeGreaterThan(0);
        },
        { timeout: 60_000, interval: 500 },
      );
      expect(receiver.seen[0]!.text).toContain('unknown_price');
    },
  );
});
