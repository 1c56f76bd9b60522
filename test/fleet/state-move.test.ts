import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ANN, KEYS, rowOf } from '../../src/addons/budgets/store/contract/opened-store.testkit.ts';
import { Engine } from '../../src/addons/budgets/store/sqlite/engine.ts';
import { commands } from '../../src/cli/commands.ts';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import { LEDGER_DIMENSIONS } from '../../src/core/ports/ledger.ts';
import { driverOf, type StoreEntry } from '../../src/core/ports/store-driver.ts';
import { startGateway } from '../../src/core/process/gateway.ts';
import type { SettingsRefused } from '../../src/core/settings/source/diagnostic.ts';
import { Secret } from '../../src/plugin/index.ts';
import { writeSettings } from '../support/gateway.ts';
import { postgresMissing, startPostgres, type TestPostgres } from '../support/postgres.ts';

const DAY = 86_400_000;
const FIRST = Date.UTC(2026, 10, 20, 12);
/** More than one batch a day. */
const ROWS = 2_500;
const DAYS = 3;
const NANO = 1_000_003;
const BOOT = {
  id: 'b'.repeat(32),
  host: 'h',
  role: 'single',
  version: '1',
  configHash: 'c',
  startedAt: FIRST,
} as const;
const EVER = { from: 0, to: Date.UTC(2100, 0, 1) };
const SUMS = { ...EVER, by: LEDGER_DIMENSIONS, step: 'day' } as const;

const missing = postgresMissing();
const tools = { clock: systemClock, keys: KEYS };

describe.skipIf(missing !== undefined)(`a move to PostgreSQL${missing === undefined ? '' : ` (${missing})`}`, () => {
  let server: TestPostgres;
  beforeAll(async () => void (server = await startPostgres()), 300_000);
  afterAll(() => server.end());

  let top: string;
  let folder: string;
  let configs: string;
  let env: Record<string, string>;
  beforeEach(async () => {
    top = mkdtempSync(join(tmpdir(), 'gatehouse-move-'));
    folder = join(top, 'state');
    env = { ...process.env, DATABASE_URL: server.url(), ENCRYPTION_KEYS: KEYS } as Record<string, string>;
    configs = settings({ type: 'postgres', url: '${env:DATABASE_URL}' });
    const client = new pg.Client(server.url());
    await client.connect();
    await client.query('DROP SCHEMA IF EXISTS gatehouse CASCADE');
    await client.end();
    fill(folder);
  });
  afterEach(() => {
    rmSync(top, { recursive: true });
    rmSync(configs, { recursive: true });
  });

  const settings = (store: object): string =>
    writeSettings({
      server: { state: { store, dir: folder, owns: ['teams'], encryption_keys: '${env:ENCRYPTION_KEYS}' } },
    });

  /** @param stopAt the number of the line of output at which the command fails, as by an end of its process */
  async function move(
    args: readonly string[] = [],
    stopAt = Infinity,
  ): Promise<{ code: number; out: string; err: string }> {
    let [out, err, lines] = ['', '', 0];
    const code = await commands.get('state migrate')!.run(['--to', 'postgres', '--configs', configs, ...args], {
      env,
      terminal: undefined,
      input: async () => Buffer.alloc(0),
      out(more) {
        out += more;
        lines += 1;
        if (lines === stopAt) throw new Error('stopped here');
      },
      err: (more) => void (err += more),
    });
    return { code, out, err };
  }

  const entry = () => ({ type: 'postgres', url: new Secret(server.url()) });
  const read = () => driverOf(entry()).read(entry(), tools);

  it('has objects, counters, leases, sums to the nano and the audit of the folder, which serves no gateway any more', async () => {
    const before = await contentsOf(
      await driverOf({ type: 'sqlite' }).read({ type: 'sqlite', dir: folder } as StoreEntry, tools),
    );
    expect(await move(['--dry-run'])).toMatchObject({
      code: 0,
      out: expect.stringContaining(
        `2 objects, 1 counters, 4 rows of the audit, ${ROWS * (DAYS - 1)} rows of the ledger in 2 days`,
      ),
    });
    expect(existsSync(join(folder, 'moved.json'))).toBe(false);
    const moved = await move();
    expect(moved).toMatchObject({ code: 0, err: '' });
    expect(moved.out).toContain(`ledger: ${((ROWS * DAYS * NANO) / 1e9).toFixed(9)} USD\n`);
    const { audit, ...after } = await contentsOf(await read());
    expect(after).toEqual({
      version: before.version,
      objects: before.objects,
      counters: before.counters,
      rows: before.rows,
      sums: before.sums,
    });
    expect(audit).toMatchObject({ intact: true, rows: before.audit.intact ? before.audit.rows + 1 : 0 });
    expect(await move()).toMatchObject({
      code: 1,
      err: expect.stringMatching(/has moved to PostgreSQL|has moved to .*127\.0\.0\.1/),
    });
    const old = settings({ type: 'sqlite', dir: folder });
    const refused = await startGateway({ configs: old, env }).catch((error: SettingsRefused) => error);
    expect(String((refused as SettingsRefused).message)).toContain(`the store of ${folder} has moved to`);
    rmSync(old, { recursive: true });
  }, 300_000);

  it.each([1, 2, 3, 4])(
    'goes on where it was interrupted, at line %i of its output',
    async (line) => {
      const before = await contentsOf(
        await driverOf({ type: 'sqlite' }).read({ type: 'sqlite', dir: folder } as StoreEntry, tools),
      );
      await expect(move([], line)).rejects.toThrow('stopped here');
      if (line < 4) {
        const half = await startGateway({ configs, env }).catch((error: SettingsRefused) => error);
        expect(String((half as SettingsRefused).message)).toContain('is on its way to this one');
        expect((await move()).code).toBe(0);
      } else expect(await move()).toMatchObject({ code: 1, err: expect.stringContaining('has moved to') });
      const after = await contentsOf(await read());
      expect([after.rows, after.sums, after.counters]).toEqual([before.rows, before.sums, before.counters]);
    },
    300_000,
  );

  it('survives kills of its process', async () => {
    const before = await contentsOf(
      await driverOf({ type: 'sqlite' }).read({ type: 'sqlite', dir: folder } as StoreEntry, tools),
    );
    const args = [
      '--disable-warning=ExperimentalWarning',
      packageFile('src/cli/main.ts'),
      'state',
      'migrate',
      '--to',
      'postgres',
    ];
    const child = spawn(process.execPath, [...args, '--configs', configs], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise((end) => child.once('exit', (code, signal) => end(signal ?? code)));
    child.stdout.once('data', () => child.kill('SIGKILL'));
    expect(['SIGKILL', 0]).toContain(await ended);
    await move();
    const after = await contentsOf(await read());
    expect([after.rows, after.sums]).toEqual([before.rows, before.sums]);
    expect(existsSync(join(folder, 'moved.json'))).toBe(true);
  }, 300_000);

  it('refuses a store that has something of its own, and writes nothing', async () => {
    expect((await move()).code).toBe(0);
    rmSync(join(folder, 'moved.json'));
    expect(await move()).toMatchObject({ code: 1, err: expect.stringContaining('which may have been in use since') });
    const other = join(top, 'other');
    fill(other);
    expect(await move(['--from', other])).toMatchObject({
      code: 1,
      err: expect.stringContaining('has a store of its own'),
    });
    expect(existsSync(join(other, 'moved.json'))).toBe(false);
  }, 300_000);
});

/** Objects with secrets, a live lease, and a ledger whose first day was dropped. */
function fill(folder: string): void {
  const store = new Engine({ folder, owner: { pid: process.pid, boot: BOOT.id, host: 'h' }, keys: KEYS, now: FIRST });
  const { calls } = store;
  const doc = { name: 'Search' };
  calls.write(FIRST, [{ op: 'put', kind: 'teams', id: 'search', doc, secrets: { webhook: 'secret' } }], ANN);
  calls.write(FIRST, [{ op: 'put', kind: 'teams', id: 'ads', doc }], ANN);
  calls.addAudit(FIRST, { action: 'login', kind: 'tokens', id: 'ann' }, ANN);
  calls.take(FIRST, [{ path: [{ node: 'team/search', period: 0 }], caps: [9e9], need: 5, want: 7 }], BOOT, 1);
  for (let day = 0; day < DAYS; day += 1)
    calls.append(
      FIRST,
      Array.from({ length: ROWS }, (_, index) =>
        rowOf(day * ROWS + index, { at: FIRST + day * DAY, nano: NANO, model: `m${index % 7}`, team: 'search' }),
      ),
    );
  calls.dropBefore(FIRST, new Date(FIRST + DAY).toISOString().slice(0, 10));
  calls.addAudit(FIRST, { action: 'logout', kind: 'tokens', id: 'ann' }, ANN);
  store.close();
}

type Reader = Awaited<ReturnType<ReturnType<typeof driverOf>['read']>>;

async function contentsOf(store: Reader) {
  const [counters, rows] = [[] as unknown[], [] as unknown[]];
  for await (const piece of store.counters.all()) counters.push(...piece.map((row) => ({ ...row })));
  for await (const piece of store.ledger.rows(EVER)) rows.push(...piece);
  const { version, changed } = await store.entities.load(0);
  const sums = [...(await store.ledger.rollups(SUMS))].map((row) => JSON.stringify(row)).sort();
  const audit = await store.audit.verify();
  await store.close();
  return { version, objects: changed, counters, rows, sums, audit };
}
