import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { KEYS } from '../../src/addons/budgets/store/contract/opened-store.testkit.ts';
import { Fleet } from '../cli/workers.testkit.ts';
import { KEY } from '../support/gateway.ts';
import { json, openaiReply, startUpstream } from '../support/upstream.ts';
import { appears, send } from './kit.ts';
import { openStream } from './live.testkit.ts';

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });

it(
  'The console has the requests of all workers: live, in statistics and on disk, and plays as a key',
  { timeout: 120_000 },
  async () => {
    const top = mkdtempSync(join(tmpdir(), 'gatehouse-fleet-'));
    ended.push(() => rmSync(top, { recursive: true, force: true }));
    const upstream = await startUpstream((_, res) => json(res, openaiReply('hello from the model')));
    ended.push(() => upstream.close());
    const folder = join(top, 'state');
    const port = await freePort();
    const state = {
      store: { type: 'sqlite', dir: folder },
      records: { days: 1 },
      owns: ['providers', 'prompts', 'configs'],
      encryption_keys: KEYS,
    };
    const fleet = new Fleet({
      upstream: upstream.url,
      server: { admin: { port }, default_config: 'default', state },
      gateway: { default: { provider: '@own' }, any: {} },
    });
    ended.push(() => fleet.end());
    const { url } = await fleet.listens();
    const admin = `http://127.0.0.1:${port}`;
    const file = join(folder, 'bootstrap-token');
    await appears(file);
    const body = { id: 'ann', role: 'admin' };
    const bootstrap = readFileSync(file, 'utf8').trim();
    const token = (await send(admin, 'POST', '/admin/v1/tokens', { token: bootstrap, body })).json.token as string;
    const stream = await openStream(`${admin}/admin/v1/stream`, { authorization: `Bearer ${token}` });
    ended.push(() => stream.close());
    await stream.find(({ event }) => event === 'boot');
    const ids = Array.from({ length: 12 }, (_, index) => `of-fleet-${index}`);
    const chat = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };
    for (const id of ids) {
      const headers = {
        authorization: `Bearer ${KEY}`,
        connection: 'close',
        'content-type': 'application/json',
        'x-request-id': id,
      };
      await (
        await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(chat) })
      ).arrayBuffer();
    }
    const keyId = (await send(admin, 'GET', '/admin/v1/keys', { token })).json.items[0].id as string;
    const played = await send(admin, 'POST', '/admin/v1/playground', { token, body: { as: keyId, body: chat } });
    expect([played.headers['x-gatehouse-status'], played.text]).toEqual(['200', expect.stringContaining('hello from')]);
    const playedEvent = await stream.find(({ data }) => data.origin === 'playground' && data.state === 'complete');
    expect([1, 2]).toContain(playedEvent.data.worker);
    for (const id of ids) await stream.find(({ data }) => data.request_id === id && data.state === 'complete');
    const endedIds = stream.events.flatMap(({ id, data }) => (id === undefined ? [] : [data.request_id as string]));
    expect(endedIds.filter((id) => ids.includes(id)).toSorted()).toEqual(ids.toSorted());
    await vi.waitFor(
      async () => {
        const { series } = (await send(admin, 'GET', '/admin/v1/stats?by=key', { token })).json;
        expect(series[0].requests.reduce((sum: number, one: number) => sum + one, 0)).toBe(13);
        const { items } = (await send(admin, 'GET', '/admin/v1/requests?limit=50&state=complete', { token })).json;
        expect(items.length).toBe(13);
      },
      { timeout: 60_000, interval: 200 },
    );
    const { items } = (await send(admin, 'GET', '/admin/v1/providers', { token })).json;
    expect(items[0].targets[0].health.map(({ worker }: { worker: number }) => worker)).toEqual([1, 2]);
    const entry = {
      provider: 'openai',
      base_url: `${upstream.url}/v1`,
      allow_insecure: true,
      api_key: 'sk-0123456789',
    };
    const saved = { token, body: { id: 'saved', spec: entry } };
    expect((await send(admin, 'POST', '/admin/v1/providers', saved)).status).toBe(201);
    // A config's provider and a model's have to agree.
    const headers = { authorization: `Bearer ${KEY}`, connection: 'close', 'x-gateway-config': 'any' };
    for (const _ of ids) {
      const body = { ...chat, model: '@saved/m' };
      const { status, text } = await send(url, 'POST', '/v1/chat/completions', { headers, body });
      expect([status, text]).toEqual([200, expect.stringContaining('hello from')]);
    }
    const version = { model: '@saved/m', text: 'Say {{word}}', variables: { word: {} } };
    const prompt = { token, body: { id: 'say', spec: { versions: { 1: version } } } };
    expect((await send(admin, 'POST', '/admin/v1/prompts', prompt)).status).toBe(201);
    for (const _ of ids) {
      const { status, text } = await send(url, 'POST', '/v1/prompts/say/completions', {
        headers,
        body: { variables: { word: 'hello' } },
      });
      expect([status, text]).toEqual([200, expect.stringContaining('hello from')]);
    }
    const run = {
      as: keyId,
      config: 'any',
      versions: [{}, { draft: version }],
      cases: [{ variables: { word: 'x' }, text: 'hello' }],
    };
    const events = await send(admin, 'POST', '/admin/v1/prompts/say:run', { token, body: run });
    expect(events.text).toContain('event: done\ndata: {"passed":2,"failed":0}');
    const plugins = (await send(admin, 'GET', '/admin/v1/plugins', { token })).json;
    expect(plugins.items.map(({ name }: { name: string }) => name)).toContain('prompts');
    const config = { token, body: { id: 'ours', spec: { text: 'provider: "@saved"\n' } } };
    expect((await send(admin, 'POST', '/admin/v1/configs', config)).status).toBe(201);
    for (const _ of ids) {
      const named = { ...headers, 'x-gateway-config': 'ours' };
      const { status } = await send(url, 'POST', '/v1/chat/completions', { headers: named, body: chat });
      expect(status).toBe(200);
    }
  },
);
