import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { rootCertificates } from 'node:tls';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { KEYS } from '../../src/addons/budgets/store/contract/opened-store.testkit.ts';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import { driverOf, type StoreEntry } from '../../src/core/ports/store-driver.ts';
import type { StateStore } from '../../src/core/ports/store.ts';
import { Secret } from '../../src/plugin/index.ts';
import { postgresMissing, startPgbouncer, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { openFolder, startMoving, type Moving } from './moving.ts';

const missing = postgresMissing(['initdb', 'postgres', 'openssl']);
const BOOT = {
  id: 'c'.repeat(32),
  host: 'h',
  role: 'single',
  version: '1',
  configHash: 'c',
  startedAt: 1,
} as const;

describe.skipIf(missing !== undefined)(
  `a move to PostgreSQL that is refused${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let server: TestPostgres;
    beforeAll(async () => void (server = await startPostgres(['ssl=on'])), 300_000);
    afterAll(() => server.end());

    let schema: string;
    let schemas = 0;
    const all: Moving[] = [];
    const start = (url = server.url(), store: object = {}): Moving => {
      const moving = startMoving(url, { schema, ...store });
      all.push(moving);
      return moving;
    };
    beforeEach(() => {
      schemas += 1;
      schema = `refused_${schemas}`;
    });
    afterEach(() => {
      for (const moving of all.splice(0)) moving.end();
    });

    function openStore(): Promise<StateStore> {
      const entry = { type: 'postgres', url: new Secret(server.url()), schema } as StoreEntry;
      return driverOf(entry).open(entry, { clock: systemClock, keys: KEYS });
    }

    async function sql<Row extends object>(text: string): Promise<Row[]> {
      const client = new pg.Client(server.url());
      await client.connect();
      try {
        return (await client.query<Row>(text)).rows;
      } finally {
        await client.end();
      }
    }

    /** Neither the folder nor the server has a trace of it. */
    async function leavesNothing({ folder }: Moving): Promise<void> {
      expect(existsSync(join(folder, 'moved.json'))).toBe(false);
      expect(await sql(`SELECT nspname FROM pg_namespace WHERE nspname = '${schema}'`)).toEqual([]);
    }

    it('names the process that has the folder open', async () => {
      const moving = start();
      const owner = openFolder(moving.folder);
      expect(await moving.move()).toMatchObject({
        code: 1,
        err: expect.stringContaining(`is in use by process ${process.pid}`),
      });
      expect((await moving.move(['--dry-run'])).code).toBe(0);
      owner.close();
      await leavesNothing(moving);
    }, 300_000);

    it.each([
      ['a wrong password', { password: 'canary-wrong' }, 'password authentication failed'],
      ['a user that is not there', { username: 'absent' }, 'password authentication failed'],
      ['a database that is not there', { pathname: '/none' }, 'does not exist'],
      ['a port without a server', { port: '1' }, 'ECONNREFUSED'],
    ])('says why the server is not reached: %s', async (_, wrong, reason) => {
      const moving = start(Object.assign(new URL(server.url()), wrong).href);
      expect(await moving.move()).toMatchObject({ code: 1, out: '', err: expect.stringContaining(reason) });
      await leavesNothing(moving);
    });

    it.each([
      ['to make the tables', false],
      ['to write to them', true],
    ])('says which right a user lacks: %s', async (_, areThere) => {
      const [name, password] = [`reader_${schemas}`, 'canary-reader'];
      await sql(`CREATE ROLE ${name} LOGIN PASSWORD '${password}' IN ROLE pg_read_all_data`);
      if (areThere) await (await openStore()).close();
      const moving = start(Object.assign(new URL(server.url()), { username: name, password }).href);
      expect(await moving.move()).toMatchObject({
        code: 1,
        out: '',
        err: expect.stringMatching(/^gatehouse: postgres:.*permission denied for .* \(42501\)\n$/),
      });
      if (!areThere) await leavesNothing(moving);
      expect(existsSync(join(moving.folder, 'moved.json'))).toBe(false);
    });

    it('leaves a store that gateways use as it is', async () => {
      const store = await openStore();
      await store.boots.seen(BOOT, { configHash: 'c', version: 0, refused: undefined });
      const moving = start();
      for (const args of [['--dry-run'], []])
        expect(await moving.move(args)).toMatchObject({
          code: 1,
          err: expect.stringContaining('has a store of its own: name an empty schema'),
        });
      await store.close();
      expect(existsSync(join(moving.folder, 'moved.json'))).toBe(false);
    }, 300_000);

    it('accepts a certificate of no other authority', async () => {
      const url = server.url().replace('127.0.0.1', 'localhost');
      const trusted = start(url, { ca: server.ca });
      const other = start(url, { ca: rootCertificates[0] });
      expect(await other.move()).toMatchObject({ code: 1, err: expect.stringMatching(/certificate|PEM|unable/i) });
      await leavesNothing(other);
      expect((await trusted.move()).code).toBe(0);
    }, 300_000);

    it('keeps a chain that was changed as it is, and tells the row', async () => {
      const moving = start();
      const db = new DatabaseSync(join(moving.folder, 'state.db'));
      db.exec(`DROP TRIGGER audit_update; UPDATE audit SET actor = 'mallory' WHERE seq = 2`);
      db.close();
      const row = { code: 1, err: expect.stringMatching(/^gatehouse: the audit of the folder was changed: row 2: /) };
      expect(await moving.move(['--dry-run'])).toMatchObject(row);
      expect(await moving.move()).toMatchObject(row);
      const { audit, rows } = await moving.after();
      expect(audit).toMatchObject({ intact: false, at: 2 });
      expect(rows).toEqual((await moving.before()).rows);
      expect(existsSync(join(moving.folder, 'moved.json'))).toBe(true);
    }, 300_000);
  },
);

const noBouncer = postgresMissing(['initdb', 'postgres', 'pgbouncer']);

it.skipIf(noBouncer !== undefined)(
  'a move goes through pgbouncer, where each transaction may run in another session',
  async () => {
    const server = await startPostgres();
    const bouncer = await startPgbouncer(server);
    const moving = startMoving(bouncer.url, { listen: false });
    try {
      const { audit: _, ...before } = await moving.before();
      expect((await moving.move()).code).toBe(0);
      expect(await moving.after()).toMatchObject({ ...before, audit: { intact: true } });
    } finally {
      moving.end();
      await bouncer.end();
      await server.end();
    }
  },
  300_000,
);
