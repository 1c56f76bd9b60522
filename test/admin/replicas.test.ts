import { readFileSync, rmSync, statSync, writeFileSync, mkdtempSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startGateway } from '../../src/core/process/gateway.ts';
import { openSqliteStore } from '../../src/addons/budgets/store/sqlite/state-store.ts';
import { until, writeSettings } from '../support/gateway.ts';
import { ADMIN_TOKEN, send, startAdmin, type AdminGateway } from './kit.ts';

let admin: AdminGateway | undefined;
afterEach(async () => {
  await admin?.close();
  admin = undefined;
});

describe('the gateways on a store', () => {
  it('are listed with their settings, their version of the store and the last refused reload', async () => {
    admin = await startAdmin();
    const token = await admin.token('admin');
    const { status, json } = await admin.ask('GET', '/replicas', { token });
    expect([status, json]).toEqual([
      200,
      {
        items: [
          expect.objectContaining({
            host: hostname(),
            role: 'single',
            settings_hash: admin.gateway.settings.hash,
            lag: 0,
            refused_reload: null,
            answers: true,
          }),
        ],
        rolled_back: null,
      },
    ]);
    const file = join(admin.configs, 'server.yaml');
    const before = readFileSync(file, 'utf8');
    writeFileSync(file, before.replace(/^\{/, '{"nonsense":1,'));
    expect((await admin.gateway.reload()).outcome).toBe('refused');
    const refused = await admin.ask('GET', '/replicas', { token });
    expect(refused.json.items[0].refused_reload).toMatchObject({ problem: expect.stringContaining('nonsense') });
    writeFileSync(file, before);
    await admin.gateway.reload();
    expect((await admin.ask('GET', '/replicas', { token })).json.items[0].refused_reload).toBeNull();
  });

  it('take no write while their store is behind what they have seen, and say so', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-back-'));
    const loopback = { host: '127.0.0.1', port: 0 };
    const state = { store: { type: 'sqlite', dir: folder }, owns: ['teams'] };
    const server = {
      listen: loopback,
      status: loopback,
      admin: { port: 0, token: '${env:TOKEN}', role: 'admin' },
      state,
    };
    const configs = writeSettings({ server });
    let lost = 0;
    const gateway = await startGateway({
      configs,
      env: { TOKEN: ADMIN_TOKEN },
      logTo: { write() {} },
      async openStore(_, { clock, keys }) {
        const owner = { pid: process.pid, boot: 'a'.repeat(32), host: 'test' };
        const store = await openSqliteStore({ folder, owner, keys }, clock);
        const load: typeof store.entities.load = async (since) => {
          const loaded = await store.entities.load(since);
          return { ...loaded, version: loaded.version - lost };
        };
        return { ...store, entities: { ...store.entities, load } };
      },
    });
    try {
      const ask = (method: string, path: string, body?: object) =>
        send(gateway.admin!.url, method, `/admin/v1${path}`, { token: ADMIN_TOKEN, body });
      expect((await ask('POST', '/teams', { id: 'a', spec: {} })).status).toBe(201);
      lost = 1;
      await until(
        async () => typeof (await ask('GET', '/replicas')).json.rolled_back === 'string',
        'the gateway finds it',
      );
      expect((await ask('GET', '/replicas')).json.rolled_back).toMatch(/version 0.*seen version 1.*accept-rollback/);
      const refused = await ask('POST', '/teams', { id: 'b', spec: {} });
      expect([refused.status, refused.json.code, refused.headers['retry-after']]).toEqual([
        503,
        'store_rolled_back',
        '60',
      ]);
      lost = 0;
      await until(async () => (await ask('POST', '/teams', { id: 'b', spec: {} })).status === 201, 'it is as it was');
    } finally {
      await gateway.close();
      for (const path of [folder, configs]) rmSync(path, { recursive: true, force: true });
    }
  });
});

describe('the first token of a store', () => {
  it('is the one of the environment, where that has one, and there is no file', async () => {
    const given = `ghb_${'a1'.repeat(20)}`;
    const top = mkdtempSync(join(tmpdir(), 'gatehouse-first-'));
    const loopback = { host: '127.0.0.1', port: 0 };
    const state = { store: { type: 'sqlite', dir: top } };
    const configs = writeSettings({ server: { listen: loopback, status: loopback, admin: { port: 0 }, state } });
    const lines: string[] = [];
    const gateway = await startGateway({
      configs,
      env: { GATEHOUSE_BOOTSTRAP_TOKEN: given },
      logTo: { write: (line) => void lines.push(line) },
    });
    try {
      await until(() => lines.some((line) => line.includes('no admin token')), 'the log says so');
      const create = (token: string, id: string) =>
        send(gateway.admin!.url, 'POST', '/admin/v1/tokens', { token, body: { id, role: 'admin' } });
      expect((await create(`ghb_${'b1'.repeat(20)}`, 'x')).status).toBe(401);
      expect((await create(given, 'ann')).status).toBe(201);
      expect((await create(given, 'bob')).status).toBe(401);
      expect(statSync(join(top, 'bootstrap-token'), { throwIfNoEntry: false })).toBeUndefined();
      expect(lines.join('')).not.toContain(given);
    } finally {
      await gateway.close();
      for (const path of [top, configs]) rmSync(path, { recursive: true, force: true });
    }
  });
});
