import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describe as text, type SettingsRefused } from '../../src/core/settings/source/diagnostic.ts';
import { digestOf } from '../../src/core/settings/compile/api-keys.ts';
import { ANN, KEYS } from '../../src/addons/budgets/store/contract/opened-store.testkit.ts';
import type { CounterState } from '../../src/core/ports/counters.ts';
import type { EntityChange, EntityDoc } from '../../src/core/ports/entities.ts';
import { startGateway } from '../../src/core/process/gateway.ts';
import type { Gateway } from '../../src/core/process/running-gateway.ts';
import { SnapshotFiles } from '../../src/addons/budgets/store/snapshot-files.ts';
import { restoreStore } from '../../src/addons/budgets/store/sqlite/store-copy.ts';
import { KEY, writeSettings, type TestSettings, until } from '../support/gateway.ts';
import { MAIN } from '../support/built.ts';

const STORED = 'gatehouse_abcdefghijkl_' + 'a'.repeat(43) + '012345';
let folder: string;
let running: TestGateway[];

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'gatehouse-served-')), 'state');
  running = [];
});
afterEach(async () => {
  for (const gateway of running) await gateway.close();
  rmSync(join(folder, '..'), { recursive: true });
});

const stateOf = (more: object = {}): object => ({
  state: { store: { type: 'sqlite', dir: folder }, owns: ['keys'], ...more },
});
const CONFIG = { default: { provider: '@sim' } };

interface TestGateway {
  readonly gateway: Gateway;
  readonly logs: readonly string[];
  close(): Promise<void>;
}

/** Explain has no store of its own to compare with, so this is no `startTestGateway`. */
async function start(server: object | string = stateOf(), settings: TestSettings = {}): Promise<TestGateway> {
  const written = typeof server === 'string' ? server : { default_config: 'default', ...server };
  const configs = writeSettings({ server: written, gateway: CONFIG, ...settings });
  const logs: string[] = [];
  const remove = (): void => rmSync(configs, { recursive: true });
  try {
    const gateway = await startGateway({ configs, env: {}, logTo: { write: (line) => void logs.push(line) } });
    const close = async (): Promise<void> => {
      await gateway.close();
      remove();
    };
    running.push({ gateway, logs, close });
    return running.at(-1)!;
  } catch (error) {
    remove();
    throw error;
  }
}

async function stop(gateway: TestGateway): Promise<void> {
  running.splice(running.indexOf(gateway), 1);
  await gateway.close();
}

const put = (id: string, key: string, doc: EntityDoc = {}): EntityChange => ({
  op: 'put',
  kind: 'keys',
  id,
  doc,
  digests: [{ slot: 0, digest: digestOf(key), last4: key.slice(-4), validFrom: 0, validTo: undefined }],
});

const write = ({ gateway }: TestGateway, changes: EntityChange[]): Promise<number> =>
  gateway.state!.store!.entities.write(changes, ANN);

async function ask({ gateway }: TestGateway, key: string): Promise<number> {
  const reply = await fetch(`${gateway.data.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'hi' }] }),
  });
  await reply.arrayBuffer();
  return reply.status;
}

const readyOf = async ({ gateway }: TestGateway): Promise<string> => {
  const reply = await fetch(`${gateway.status.url}/readyz`);
  return `${reply.status} ${await reply.text()}`;
};

async function refusalOf(starting: Promise<TestGateway>): Promise<string[]> {
  const error = (await starting.then(
    () => undefined,
    (reason: unknown) => reason,
  )) as SettingsRefused;
  return error.diagnostics
    .filter(({ severity }) => severity === 'error')
    .map((one) => text(one).replace(/^.*\/(?=\w+\.yaml)/, ''));
}

describe('a gateway with a state store', () => {
  it('takes keys of the store beside those of the files, as soon as they are written, until they are deleted', async () => {
    const gateway = await start();
    expect([await ask(gateway, KEY), await ask(gateway, STORED)]).toEqual([200, 401]);
    await write(gateway, [put('stored', STORED)]);
    await until(async () => (await ask(gateway, STORED)) === 200, 'the key of the store is valid');
    await write(gateway, [{ op: 'delete', kind: 'keys', id: 'stored' }]);
    await until(async () => (await ask(gateway, STORED)) === 401, 'the deleted key is not valid');
    expect(await ask(gateway, KEY)).toBe(200);
  });

  it('finds the keys again after a restart, with their limits', async () => {
    const first = await start();
    await write(first, [put('stored', STORED, { models: ['other'] })]);
    await stop(first);
    const second = await start();
    expect([await ask(second, STORED), await readyOf(second)]).toEqual([403, expect.stringMatching(/^200 /)]);
  });

  it('counts and limits at once by what is written of organizations, teams, budgets and limits, and keeps what is counted', async () => {
    const owns = ['keys', 'teams', 'organizations', 'budgets', 'limits'];
    const gateway = await start(
      { state: { store: { type: 'sqlite', dir: folder }, owns } },
      { gateway: { default: { provider: '@sim', override_params: { max_tokens: 50 } } } },
    );
    const team = (doc: EntityDoc): EntityChange => ({ op: 'put', kind: 'teams', id: 'search', doc });
    await write(gateway, [
      { op: 'put', kind: 'organizations', id: 'acme', doc: {} },
      team({ organization: 'acme' }),
      put('stored', STORED, { team: 'search' }),
    ]);
    await until(async () => (await ask(gateway, STORED)) === 200, 'the key of the team is valid');
    const budget = (cap: string): EntityChange => ({
      op: 'put',
      kind: 'budgets',
      id: 'b1',
      doc: { node: 'organization:acme', cap, period: 'total' },
    });
    await write(gateway, [budget('1 tokens')]);
    await until(async () => (await ask(gateway, STORED)) === 429, 'the budget refuses');
    await write(gateway, [budget('1000000 tokens')]);
    await until(async () => (await ask(gateway, STORED)) === 200, 'the higher cap admits');
    await write(gateway, [team({ organization: 'acme', limits: { requests: '1/h' } })]);
    await until(async () => (await ask(gateway, STORED)) === 429, 'the limit refuses');
    await write(gateway, [team({ organization: 'acme' })]);
    await until(async () => (await ask(gateway, STORED)) === 200, 'nothing refuses');
    await write(gateway, [{ op: 'delete', kind: 'teams', id: 'search' }]);
    await until(async () => (await ask(gateway, STORED)) === 403, 'the key without its team is refused');
    expect(await ask(gateway, KEY)).toBe(200);
    expect(gateway.logs.join('')).not.toContain('settings reloaded');
  });

  it('shows in metrics and at /readyz what it knows of the store, and records the last uses of keys', async () => {
    const soon = Date.now() + 3 * 86_400_000;
    const gateway = await start();
    const broken = put('broken', `${STORED}x`, { team: 'gone' });
    await write(gateway, [
      {
        ...put('stored', STORED),
        digests: [{ slot: 0, digest: digestOf(STORED), last4: '', validFrom: 0, validTo: soon }],
      } as EntityChange,
      broken,
    ]);
    await until(async () => (await ask(gateway, STORED)) === 200, 'the key of the store is valid');
    expect(await ask(gateway, `${STORED}x`)).toBe(403);
    await stop(gateway);
    const second = await start();
    const metrics = await (await fetch(`${second.gateway.status.url}/metrics`)).text();
    const lines = metrics.split('\n').filter((line) => /^gatehouse_(?:state|keys)_/.test(line));
    expect(lines.map((line) => line.replace(/\d{9,}(?:\.\d+)?$/, 'TIME'))).toEqual(
      expect.arrayContaining([
        'gatehouse_keys_expiring{days="30"} 1',
        'gatehouse_keys_expiring{days="7"} 1',
        'gatehouse_keys_expiring{days="1"} 0',
        'gatehouse_keys_misconfigured 1',
        'gatehouse_state_objects{kind="keys"} 2',
        'gatehouse_state_up 1',
        'gatehouse_state_version 1',
        'gatehouse_state_version_lag 0',
        'gatehouse_state_last_load_timestamp_seconds TIME',
      ]),
    );
    const alerted = /"alert":"key_expiry".*"key":"stored".*"days":7/;
    await until(async () => alerted.test(second.logs.join('')), 'the end of the key is alerted');
    const ready = await fetch(`${second.gateway.status.url}/readyz?verbose`);
    expect([ready.status, await ready.text()]).toEqual([200, expect.stringContaining('misconfigured: broken')]);
    expect(await second.gateway.state!.store!.entities.lastUses(['stored', 'broken'])).toMatchObject([
      { keyId: 'stored', address: '127.0.0.1' },
    ]);
  });

  it('reloads files without losing what the store has', async () => {
    const gateway = await start();
    await write(gateway, [put('stored', STORED)]);
    await until(async () => (await ask(gateway, STORED)) === 200, 'the key of the store is valid');
    const file = gateway.gateway.settings.files.find((path) => path.endsWith('server.yaml'))!;
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^\{/, '{"timeouts":{"total":"90s"},'));
    expect((await gateway.gateway.reload()).outcome).toBe('changed');
    expect([await ask(gateway, STORED), await ask(gateway, KEY)]).toEqual([200, 200]);
    const { audit } = gateway.gateway.state!.store!;
    const rows = () => audit.rows({ kind: 'settings' });
    await until(async () => (await rows()).length > 1, 'start and reload are in the audit');
    expect(await rows()).toMatchObject([
      { action: 'reload', id: 'files', actor: 'gateway', after: expect.stringContaining('server.yaml') },
      { action: 'start', id: 'files', actor: 'gateway', after: expect.stringMatching(/^\{"config_hash":"\w+"\}$/) },
    ]);
    await write(gateway, [{ op: 'delete', kind: 'keys', id: 'stored' }]);
    await until(async () => (await ask(gateway, STORED)) === 401, 'the deleted key is not valid');
  });

  it('refuses a revoked key within a second, whatever the load', async () => {
    const gateway = await start();
    await write(gateway, [put('stored', STORED)]);
    await until(async () => (await ask(gateway, STORED)) === 200, 'the key of the store is valid');
    let revokedAt = Infinity;
    const late: number[] = [];
    const caller = async (): Promise<void> => {
      for (let status = 200; status === 200;) {
        const began = performance.now();
        status = await ask(gateway, STORED);
        if (status === 200 && began > revokedAt + 1_000) late.push(began - revokedAt);
        if (status !== 200) expect(status).toBe(401);
      }
    };
    const callers = Promise.all(Array.from({ length: 20 }, caller));
    await sleep(300);
    await write(gateway, [{ op: 'delete', kind: 'keys', id: 'stored' }]);
    revokedAt = performance.now();
    await callers;
    expect(late).toEqual([]);
  });

  it('refuses a key with two owners until one of them has given it up', async () => {
    const gateway = await start();
    await write(gateway, [put('test', STORED)]);
    await until(async () => (await ask(gateway, KEY)) === 403, 'the key of both is refused');
    const { diagnostics = [] } = (await gateway.gateway.reload()) as { diagnostics?: readonly { message: string }[] };
    expect(diagnostics.map(({ message }) => message)).toContainEqual(
      expect.stringContaining('key "test" is also in the store'),
    );
    const file = gateway.gateway.settings.files.find((path) => path.endsWith('keys.yaml'))!;
    writeFileSync(file, 'keys: []');
    expect((await gateway.gateway.reload()).outcome).toBe('changed');
    expect([await ask(gateway, STORED), await ask(gateway, KEY)]).toEqual([200, 401]);
  });

  it('serves what a backup of yesterday has, once its operator has accepted that', async () => {
    const backups = join(folder, '..', 'backups');
    const state = { store: { type: 'sqlite', dir: folder }, owns: ['keys'], backup: { dir: backups } };
    const first = await start({ state });
    await write(first, [put('old', STORED)]);
    await stop(first);
    const second = await start({ state });
    await until(async () => readdirSync(backups).some((name) => name.endsWith('Z')), 'a backup is whole');
    await until(
      async () => readdirSync(backups).filter((name) => name.endsWith('Z')).length === 2,
      'both starts have one',
    );
    await write(second, [{ op: 'delete', kind: 'keys', id: 'old' }, put('new', `${STORED}x`)]);
    await until(async () => (await ask(second, `${STORED}x`)) === 200, 'the new key is valid');
    await stop(second);
    const copy = join(backups, readdirSync(backups).sort().at(-1)!);
    for (const name of readdirSync(folder)) if (name !== 'snapshots') rmSync(join(folder, name), { recursive: true });
    restoreStore(copy, folder);
    expect(await refusalOf(start({ state }))).toEqual([expect.stringContaining('gatehouse state accept-rollback')]);
    new SnapshotFiles(join(folder, 'snapshots'), undefined).forgetAfter(1);
    const third = await start({ state });
    expect([await ask(third, STORED), await ask(third, `${STORED}x`)]).toEqual([200, 401]);
    expect(await third.gateway.state!.store!.audit.verify()).toMatchObject({ intact: true });
  });

  it('refuses an id that a file and the store have, at its place', async () => {
    const first = await start();
    await write(first, [put('search', STORED)]);
    await stop(first);
    const keys = `keys:\n  - id: test\n    key: ${KEY}\n  - id: search\n    key: ${KEY}-2\n`;
    expect(await refusalOf(start(stateOf(), { keys }))).toEqual([
      expect.stringMatching(
        /^keys\.yaml:4:9: key "search" is also in the store \(by ann, 20\d\d-\d\d-\d\d\): remove one of the two$/,
      ),
    ]);
    const same = `keys:\n  - id: other\n    digest: ${digestOf(STORED)}\n`;
    expect(await refusalOf(start(stateOf(), { keys: same }))).toEqual([
      expect.stringMatching(/^keys\.yaml:2:5: "other" is the same key as "search" in the store \(by ann, /),
    ]);
  });

  it('refuses a store of another gateway, and kinds that it should not hold', async () => {
    const first = await start();
    await write(first, [put('stored', STORED)]);
    const server = `listen: { port: 0 }\nstatus: { port: 0 }\nadmin: { port: 0 }\nstate:\n  owns: []\n  store:\n    type: sqlite\n    dir: ${folder}\n`;
    expect(await refusalOf(start(server))).toEqual([
      expect.stringMatching(/^server\.yaml:7:5: .*state is in use by process \d+ on /),
    ]);
    await stop(first);
    expect(await refusalOf(start(server))).toEqual([
      'server.yaml:5:9: the store has 1 keys, such as "stored", and `owns` does not list `keys`',
    ]);
  });

  it('refuses wrong keys of secrets, and settings that contradict each other', async () => {
    const first = await start(stateOf({ encryption_keys: KEYS }));
    await write(first, [{ ...put('stored', STORED), secrets: { note: 'canary' } } as EntityChange]);
    await stop(first);
    const other = `k1:${Buffer.alloc(32, 3).toString('base64')}`;
    const [wrong = ''] = await refusalOf(start(stateOf({ encryption_keys: other })));
    expect(wrong).toMatch(/^server\.yaml:.*"k1" is another key than the one that sealed it/);
    expect(wrong).not.toContain(other.slice(3));
    expect(await refusalOf(start({ state: { store: { type: 'sqlite' } } }))).toEqual([
      expect.stringContaining('a store of type `sqlite` needs `dir`'),
    ]);
    expect(await refusalOf(start({ state: { store: { type: 'memory', dir: '/x' } } }))).toEqual([
      expect.stringContaining('a store of type `memory` has no `dir`'),
    ]);
  });

  it('ends a process that it refuses with its message, though nothing else keeps the process alive', async () => {
    const first = await start();
    await write(first, [put('test', STORED)]);
    await stop(first);
    const configs = writeSettings({ server: stateOf(), keys: { keys: [{ id: 'test', digest: digestOf('x') }] } });
    const refused = promisify(execFile)(process.execPath, [MAIN, 'serve', '--configs', configs]);
    await expect(refused).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('key "test" is also in the store'),
    });
    rmSync(configs, { recursive: true });
  });

  it('goes on after a restart with what budgets have spent', async () => {
    const settings: TestSettings = {
      keys: { keys: [{ id: 'test', key: KEY, budgets: [{ cap: '1000 tokens', period: 'total' }] }] },
      gateway: { default: { provider: '@sim', override_params: { max_tokens: 50 } } },
    };
    const first = await start(stateOf(), settings);
    const statuses: number[] = [];
    while (statuses.at(-1) !== 429 && statuses.length < 200) statuses.push(await ask(first, KEY));
    expect([statuses[0], statuses.at(-1)]).toEqual([200, 429]);
    await stop(first);
    expect(first.logs.join('')).not.toContain('budgets are counted in memory');

    const second = await start(stateOf(), settings);
    const counted: CounterState[] = [];
    for await (const piece of second.gateway.state!.store!.counters.all()) counted.push(...piece);
    expect(counted).toMatchObject([{ leased: 0, unreconciled: 0 }]);
    expect(counted[0]!.spent).toBeGreaterThan(500);
    expect(await ask(second, KEY)).toBe(429);
  });

  it('opens nothing without the setting', async () => {
    const gateway = await start({});
    expect(gateway.gateway.state).toBeUndefined();
  });
});

describe('a store that does not answer at the start', () => {
  const damage = (): void => writeFileSync(join(folder, 'state.db'), 'this is no database '.repeat(200));
  const written = async (more: object = {}): Promise<void> => {
    const first = await start(stateOf(more));
    await write(first, [put('stored', STORED)]);
    await until(async () => (await ask(first, STORED)) === 200, 'the key of the store is valid');
    await stop(first);
  };

  it('is replaced by its last snapshot', async () => {
    await written();
    damage();
    const gateway = await start();
    expect([await ask(gateway, STORED), await ask(gateway, KEY), await readyOf(gateway)]).toEqual([
      200,
      200,
      expect.stringMatching(/^200 /),
    ]);
    expect(gateway.gateway.state!.store).toBeUndefined();
    expect(gateway.logs.join('')).toContain('the state store does not answer; its last snapshot serves');
  });

  it('refuses its keys with 503 without a snapshot, serves those of the files, and is not ready', async () => {
    await written({ when_down: { keys: 'refuse' } });
    damage();
    const gateway = await start(stateOf({ when_down: { keys: 'refuse' } }));
    expect([await ask(gateway, STORED), await ask(gateway, KEY)]).toEqual([503, 200]);
    expect(await readyOf(gateway)).toMatch(/^503 /);
  });

  it.each([
    ['refuses', undefined, 429],
    ['serves', 'allow', 200],
  ])('%s requests that a budget cannot count, with `when_down.budgets: %s`', async (_, budgets, status) => {
    await written();
    damage();
    const gateway = await start(stateOf(budgets ? { when_down: { budgets } } : {}), {
      keys: { keys: [{ id: 'test', key: KEY, budgets: [{ cap: '1000000 tokens', period: 'total' }] }] },
      gateway: { default: { provider: '@sim', override_params: { max_tokens: 50 } } },
    });
    expect(await ask(gateway, KEY)).toBe(status);
  });
});
