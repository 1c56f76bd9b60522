import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { KEYS } from '../../src/addons/budgets/store/contract/opened-store.testkit.ts';
import { SQLITE } from '../../src/addons/budgets/store/sqlite/driver.ts';
import { openSqliteStore } from '../../src/addons/budgets/store/sqlite/state-store.ts';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import { addStoreDrivers, type StoreDriver } from '../../src/core/ports/store-driver.ts';
import type { StateStore } from '../../src/core/ports/store.ts';
import { startGateway } from '../../src/core/process/gateway.ts';
import type { Gateway } from '../../src/core/process/running-gateway.ts';
import { until, writeSettings } from '../support/gateway.ts';
import { json, openaiReply, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import { ADMIN_TOKEN, entrySpec, FILE_KEY, send, type Answer } from './kit.ts';

/** The one store of both gateways. Neither of them closes it. */
let store: StateStore;
// In this file the type stands for a server of a database, which several gateways use at the same time.
const SHARED: readonly StoreDriver[] = [
  {
    ...SQLITE,
    use: 'shared',
    folderOf: () => undefined,
    // A gateway hears of the writes of another one by its own looks alone.
    open: async () => ({
      ...store,
      entities: { ...store.entities, watch: () => () => {} },
      close: () => Promise.resolve(),
    }),
  },
];
// Other files have the same process.
beforeAll(() => addStoreDrivers(SHARED));
afterAll(() => addStoreDrivers([SQLITE]));

const SECRET = 'sk-canary-of-two-gateways-0123456789';
const ANY = { 'if-match': '*' };

interface Replica {
  readonly gateway: Gateway;
  readonly configs: string;
  ask(method: string, path: string, body?: object, headers?: Readonly<Record<string, string>>): Promise<Answer>;
}

let top: string;
let upstream: ScriptedUpstream;
let replicas: Replica[];

beforeEach(async () => {
  top = mkdtempSync(join(tmpdir(), 'gatehouse-two-'));
  const owner = { pid: process.pid, boot: 'a'.repeat(32), host: 'test' };
  store = await openSqliteStore({ folder: join(top, 'store'), owner, keys: KEYS }, systemClock);
  upstream = await startUpstream((_, res) => json(res, openaiReply('hello')));
  replicas = [];
});
afterEach(async () => {
  for (const { gateway, configs } of replicas) {
    await gateway.close();
    rmSync(configs, { recursive: true, force: true });
  }
  await upstream.close();
  await store.close();
  rmSync(top, { recursive: true, force: true });
});

/** @param catalog before the list of its providers */
async function start(name: string, catalog = ''): Promise<Replica> {
  const loopback = { host: '127.0.0.1', port: 0 };
  const server = {
    listen: loopback,
    status: loopback,
    admin: { port: 0, token: '${env:TOKEN}', role: 'admin' },
    default_config: 'default',
    state: {
      store: { type: 'sqlite', dir: join(top, 'store') },
      dir: join(top, name),
      owns: ['providers', 'configs'],
      encryption_keys: '${env:KEYS}',
    },
  };
  const configs = writeSettings({
    server,
    keys: `keys:\n  - id: test\n    key: ${FILE_KEY}\n`,
    catalog: `${catalog}providers:\n  - { slug: sim, provider: simulator }\n`,
    gateway: { default: {} },
  });
  const gateway = await startGateway({ configs, env: { TOKEN: ADMIN_TOKEN, KEYS }, logTo: { write() {} } });
  const replica: Replica = {
    gateway,
    configs,
    ask: (method, path, body, headers = {}) =>
      send(gateway.admin!.url, method, `/admin/v1${path}`, { token: ADMIN_TOKEN, body, headers }),
  };
  replicas.push(replica);
  return replica;
}

const spec = (more: object = {}): object => entrySpec(upstream.url, { api_key: SECRET, ...more });

async function statusOf({ gateway }: Replica, model: string): Promise<number> {
  const reply = await fetch(`${gateway.data.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${FILE_KEY}` },
    body: JSON.stringify({ model, max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }),
  });
  await reply.arrayBuffer();
  return reply.status;
}

/** What the first gateway shows of the reloads that the other ones have refused. */
async function refusals({ ask }: Replica): Promise<readonly string[]> {
  const { items } = (await ask('GET', '/replicas')).json as {
    items: readonly { refused_reload: { problem: string } | null }[];
  };
  return items.flatMap(({ refused_reload: refused }) => refused?.problem ?? []);
}

describe('an entry of the catalog that one gateway on a store writes', () => {
  it('serves on the other one soon, as it is changed and until it is deleted', async () => {
    const [one, other] = [await start('one'), await start('other')];
    expect((await one.ask('POST', '/providers', { id: 'openai', spec: spec() })).status).toBe(201);
    await until(async () => (await statusOf(other, '@openai/gpt-5')) === 200, 'the other one serves it');
    expect(other.gateway.settings.hash).toBe(one.gateway.settings.hash);
    expect((await other.ask('PATCH', '/providers/openai', { spec: { models: ['o3'] } }, ANY)).status).toBe(200);
    await until(async () => (await statusOf(one, '@openai/o3')) === 200, 'the change has come back');
    expect((await one.ask('DELETE', '/providers/openai', undefined, ANY)).status).toBe(204);
    await until(async () => (await statusOf(other, '@openai/o3')) === 400, 'it is gone on both');
    expect(await refusals(one)).toEqual([]);
  });

  it('stays as it was where the files of the other one need it, which is shown as its refused reload', async () => {
    const [one, other] = [await start('one'), await start('other')];
    await one.ask('POST', '/providers', { id: 'openai', spec: spec() });
    await until(async () => (await statusOf(other, '@openai/gpt-5')) === 200, 'the other one serves it');
    writeFileSync(join(other.configs, 'gateway/named.yaml'), 'provider: "@openai"\n');
    expect((await other.gateway.reload()).outcome).toBe('changed');
    const { hash } = other.gateway.settings;
    expect((await one.ask('DELETE', '/providers/openai', undefined, ANY)).status).toBe(204);
    await until(
      async () => (await refusals(one)).some((text) => text.includes('named.yaml:1')),
      'the refusal is shown',
    );
    expect([await statusOf(other, '@openai/gpt-5'), other.gateway.settings.hash]).toEqual([200, hash]);
    expect(await statusOf(one, '@openai/gpt-5')).toBe(400);
    // Files that suit it end it.
    rmSync(join(other.configs, 'gateway/named.yaml'));
    expect((await other.gateway.reload()).outcome).toBe('changed');
    await until(async () => (await refusals(one)).length === 0, 'the other one has shown it');
    expect(await statusOf(other, '@openai/gpt-5')).toBe(400);
  });

  it('keeps the version before on a gateway whose files do not have what it names', async () => {
    const [one, other] = [await start('one', `credentials:\n  main: { api_key: ${SECRET} }\n`), await start('other')];
    await one.ask('POST', '/providers', { id: 'openai', spec: spec() });
    await until(async () => (await statusOf(other, '@openai/gpt-5')) === 200, 'the other one serves it');
    const shared = { credentials: 'main', base_url: null, allow_insecure: null, api_key: null };
    expect((await one.ask('PATCH', '/providers/openai', { spec: shared }, ANY)).status).toBe(200);
    await until(
      async () => (await refusals(one)).some((text) => text.includes('store/providers/openai')),
      'the refusal is shown',
    );
    expect(await statusOf(other, '@openai/gpt-5')).toBe(200);
    expect((await refusals(one)).join('')).not.toContain(SECRET);
  });
});

describe('a gateway config that one gateway on a store writes', () => {
  const hashes = (all: readonly Replica[]): readonly string[] => all.map(({ gateway }) => gateway.settings.hash);

  it('is in force on the other one soon, as it is changed and until it is deleted', async () => {
    const both = [await start('one'), await start('other')] as const;
    const [one, other] = both;
    const [before] = hashes(both);
    const text = (model: string): object => ({
      spec: { text: `provider: "@sim"\noverride_params: { model: ${model} }\n` },
    });
    expect((await one.ask('POST', '/configs', { id: 'search', ...text('a') })).status).toBe(201);
    const [written] = hashes([one]);
    expect(written).not.toBe(before);
    await until(() => hashes([other])[0] === written, 'the other one has it');
    const { etag } = (await other.ask('GET', '/configs/search')).json;
    expect((await other.ask('PATCH', '/configs/search', text('b'), { 'if-match': etag })).status).toBe(200);
    await until(() => hashes([one])[0] === hashes([other])[0], 'the change has come back');
    expect((await one.ask('PATCH', '/configs/search', text('c'), { 'if-match': etag })).status).toBe(412);
    expect((await one.ask('DELETE', '/configs/search', undefined, ANY)).status).toBe(204);
    await until(() => hashes(both).every((hash) => hash === before), 'it is gone on both');
    expect(await refusals(one)).toEqual([]);
  });
});
