import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ANN, KEYS, NOON, rowOf } from '../contract/opened-store.testkit.ts';
import type { StateFailure } from '../../../../core/ports/failures.ts';
import { Database } from './database.ts';
import { Engine } from './engine.ts';
import { migrate, MIGRATIONS, planMigrations } from './migrations.ts';

const OTHER_KEY = `k2:${Buffer.alloc(32, 9).toString('base64')}`;
const team = (id: string) => ({ op: 'put', kind: 'teams', id, doc: { id } }) as const;
const sealed = { ...team('search'), secrets: { webhook: 'canary-4711' } };
const BOOT = { id: '1'.repeat(32), host: 'h', role: 'single', version: '1', configHash: '', startedAt: NOON } as const;

let folder: string;
let engines: Engine[];

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'gatehouse-engine-')), 'state');
  engines = [];
});
afterEach(() => {
  for (const engine of engines) engine.close();
  rmSync(join(folder, '..'), { recursive: true });
});

function open(keys = KEYS): Engine {
  const engine = new Engine({ folder, owner: { pid: 4711, boot: 'b'.repeat(32), host: 'host-a' }, keys, now: NOON });
  engines.push(engine);
  return engine;
}

/** As `open`, with room for a few objects. */
function openFull(): Engine {
  const owner = { pid: 4711, boot: 'b'.repeat(32), host: 'host-a' };
  const engine = new Engine({ folder, owner, keys: KEYS, now: NOON, maxPages: 120 });
  engines.push(engine);
  return engine;
}

function close(engine: Engine): void {
  engine.close();
  engines.splice(engines.indexOf(engine), 1);
}

/** Changes a file of a closed store as an attacker or an accident would. */
function tamper(sql: string, file = 'state.db'): void {
  const db = new DatabaseSync(join(folder, file));
  db.exec(sql);
  db.close();
}

const codeOf = (task: () => unknown): StateFailure['code'] | undefined => {
  try {
    task();
    return undefined;
  } catch (error) {
    return (error as StateFailure).code;
  }
};

describe('a store in a folder', () => {
  it('is there again after its process has ended', () => {
    const first = open();
    first.calls.write(NOON, [sealed], ANN);
    const path = [{ node: 'team/search', period: 0 }];
    const taken = first.calls.take(NOON, [{ path, caps: [100], need: 40, want: 40 }], BOOT, 1);
    first.calls.append(NOON, [rowOf(1, { nano: 7, model: 'm' })]);
    close(first);
    const { calls } = open();
    expect(calls.load(NOON, 0)).toMatchObject({ version: 1, changed: [{ id: 'search', sealed: ['webhook'] }] });
    expect(calls.unseal(NOON, { kind: 'teams', id: 'search' }, 'webhook')).toBe('canary-4711');
    expect(calls.take(NOON, [{ path, caps: [100], need: 40, want: 40 }], BOOT, 1)).toEqual(taken);
    expect(calls.reap(Number.MAX_SAFE_INTEGER, undefined)).toMatchObject([{ rest: 40 }]);
    expect(calls.append(NOON, [rowOf(1, { nano: 7, model: 'm' })])).toBe(0);
    expect(calls.rollups(NOON, { from: NOON, to: NOON + 1, by: ['model'], step: 'hour' })).toMatchObject([
      { nano: 7, names: { model: 'm' } },
    ]);
  });

  it('has one owner, which the refusal names, and is free when the owner has closed it', () => {
    const first = open();
    expect(() => open()).toThrow(/is in use by process 4711 on host-a \(boot b{32}, since 2026-11-22T12:00:00\.000Z\)/);
    expect(codeOf(() => open())).toBe('in_use');
    first.calls.write(NOON, [team('search')], ANN);
    close(first);
    expect(open().calls.load(NOON, 0).version).toBe(1);
  });

  it('is readable by its owner only', () => {
    open();
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'ledger')).mode & 0o777).toBe(0o700);
    const names = readdirSync(folder).filter((name) => name.includes('.db'));
    expect(names.map((name) => statSync(join(folder, name)).mode & 0o777)).toEqual(names.map(() => 0o600));
  });

  it('has a file for each day of the ledger, and removes it with its day', () => {
    const { calls } = open();
    calls.append(
      NOON,
      Array.from({ length: 7 }, (_, day) => rowOf(day, { at: NOON - day * 86_400_000, nano: 1 })),
    );
    const files = () => readdirSync(join(folder, 'ledger')).filter((name) => /^\d.*\.db$/.test(name));
    expect(files()).toHaveLength(7);
    calls.dropBefore(NOON, '2026-11-21');
    expect(files()).toEqual(['2026-11-21.db', '2026-11-22.db']);
    expect(calls.rollups(NOON, { from: 0, to: NOON + 1, by: [], step: 'all' })).toMatchObject([{ nano: 7 }]);
  });

  it('keeps the request ids of new rows in the file of a day that an earlier release began', () => {
    const before = open();
    before.calls.append(NOON, [rowOf(1)]);
    close(before);
    tamper('ALTER TABLE ledger DROP COLUMN requestId', 'ledger/2026-11-22.db');
    const { calls } = open();
    const rows = () => calls.rowsAfter(NOON, { from: 0, to: NOON * 2 }, undefined).rows;
    expect(rows()).toEqual([rowOf(1)]);
    calls.append(NOON, [rowOf(2, { requestId: 'order-17' })]);
    expect(rows()).toEqual([rowOf(1), rowOf(2, { requestId: 'order-17' })]);
  });

  it('keeps the sums of a day that an earlier release began, and distinguishes more in those that follow', () => {
    const before = open();
    before.calls.append(NOON, [rowOf(1, { key: 'a', nano: 3 })]);
    close(before);
    // The tables of the release before, with what it had written.
    tamper(
      `ALTER TABLE ledger DROP COLUMN labels;
       CREATE TABLE narrow AS SELECT * FROM cell;
       ALTER TABLE narrow DROP COLUMN provider;
       ALTER TABLE narrow DROP COLUMN labels;
       DROP TABLE cell;
       ALTER TABLE narrow RENAME TO cell;
       CREATE UNIQUE INDEX of_cell ON cell (start, key, user, team, organization, config, model, status, src, kind)`,
      'ledger/2026-11-22.db',
    );
    const { calls } = open();
    const byEntry = () =>
      calls
        .rollups(NOON, { from: 0, to: NOON * 2, by: ['provider', 'key'], labels: ['env'], step: 'all' })
        .map(({ names, labels, nano }) => [names.provider, names.key, labels['env'], nano]);
    expect(byEntry()).toEqual([['', 'a', '', 3]]);
    const labelled = rowOf(2, { key: 'a', nano: 4, asked: '@gpt/m', labels: '{"env":"prod"}' });
    calls.append(NOON, [labelled]);
    expect(byEntry()).toEqual([
      ['', 'a', '', 3],
      ['gpt', 'a', 'prod', 4],
    ]);
    expect(calls.rowsAfter(NOON, { from: 0, to: NOON * 2 }, undefined).rows).toEqual([
      rowOf(1, { key: 'a', nano: 3 }),
      labelled,
    ]);
    expect(calls.dropBefore(NOON, '2026-11-23')).toBe(1);
    expect(byEntry()).toHaveLength(2);
  });

  it('counts a dropped day once when the process ended before it removed the file', () => {
    const first = open();
    first.calls.append(NOON, [rowOf(1, { at: NOON - 86_400_000, nano: 5 }), rowOf(2, { nano: 2 })]);
    close(first);
    // The transaction of dropBefore leaves this if the process ends right after it.
    tamper(`INSERT INTO dropped VALUES ('2026-11-22')`, 'ledger/dropped.db');
    const { calls } = open();
    expect(existsSync(join(folder, 'ledger', '2026-11-21.db'))).toBe(false);
    expect(calls.days(NOON)).toEqual(['2026-11-22']);
  });

  it('takes no claims of plugins beyond 10,000 claims, and those of the gateway', () => {
    close(open());
    tamper(`WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 10000)
      INSERT INTO claim SELECT 'plugin mask ' || value, 'plugin', '1', ${NOON} + value FROM n`);
    const { calls } = open();
    const wish = { name: 'plugin mask x', holder: 'plugin', text: '1', ms: 1_000 };
    expect(() => calls.takeClaim(NOON, wish)).toThrow('the store has 10000 claims');
    expect(calls.takeClaim(NOON, { ...wish, name: 'plugin mask 1' }).until).toBe(NOON + 1_000);
    expect(calls.takeClaim(NOON, { ...wish, name: 'caretaker' }).until).toBe(NOON + 1_000);
    // The time of two others has ended: the claim of the gateway counts, too.
    expect(calls.takeClaim(NOON + 3, wish).until).toBe(NOON + 1_003);
  });

  it('keeps no text of a secret in its files', () => {
    const engine = open();
    engine.calls.write(NOON, [sealed], ANN);
    close(engine);
    tamper('VACUUM');
    const db = new DatabaseSync(join(folder, 'state.db'), { readOnly: true });
    const tables = db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all() as { name: string }[];
    const rows = tables.map(({ name }) => JSON.stringify(db.prepare(`SELECT * FROM ${name}`).all())).join('\n');
    db.close();
    expect(rows).toContain('webhook');
    expect(rows).not.toContain('canary');
  });

  it('copies itself while it is used, and the copy opens', async () => {
    const engine = open();
    engine.calls.write(NOON, [sealed], ANN);
    engine.calls.append(NOON, [rowOf(1), rowOf(2, { at: NOON - 86_400_000 })]);
    const copy = join(folder, '..', 'copy');
    await engine.calls.backup(NOON, copy);
    await expect(engine.calls.backup(NOON, copy)).rejects.toMatchObject({ code: 'invalid' });
    engine.calls.write(NOON, [team('later')], ANN);
    close(engine);
    folder = copy;
    const { calls } = open();
    expect(calls.load(NOON, 0)).toMatchObject({ version: 1, changed: [{ id: 'search' }] });
    expect(calls.unseal(NOON, { kind: 'teams', id: 'search' }, 'webhook')).toBe('canary-4711');
    expect([calls.days(NOON), calls.verifyAudit(NOON)]).toMatchObject([
      ['2026-11-21', '2026-11-22'],
      { intact: true, rows: 1 },
    ]);
  });
});

describe('a store whose disk is full', () => {
  it('refuses writes, keeps what it has confirmed, whole, and writes again when there is room', () => {
    close(open());
    const full = openFull();
    const path = [{ node: 'team/search', period: 0 }];
    const ask = { path, caps: [1_000_000], need: 1, want: 1 };
    let written = 0;
    const fill = (): void => {
      for (; written < 10_000; written += 1)
        full.calls.write(NOON, [{ ...team(`t${written}`), doc: { text: 'x'.repeat(4_000) } }], ANN);
    };
    expect(codeOf(fill)).toBe('unavailable');
    let batch = 0;
    const take = (): void => {
      for (; batch < 10_000; batch += 1)
        full.calls.take(NOON, [ask], { ...BOOT, id: String(batch).padStart(32, '0') }, 1);
    };
    expect(codeOf(take)).toBe('unavailable');
    expect(full.calls.load(NOON, 0).changed).toHaveLength(written);
    expect(full.calls.verifyAudit(NOON)).toMatchObject({ intact: true, rows: written });
    expect(full.calls.read(NOON, path)[0]?.leased ?? 0).toBe(batch);
    close(full);
    const { calls } = open();
    expect(calls.write(NOON, [team('later')], ANN)).toBe(written + 1);
    expect(calls.take(NOON, [ask], BOOT, 1)).toMatchObject({ grants: [{ granted: 1 }] });
    expect(calls.read(NOON, path)[0]?.leased).toBe(batch + 1);
  });
});

describe('the chain of the audit', () => {
  const written = (): void => {
    const engine = open();
    for (const id of ['a', 'b', 'c', 'd']) engine.calls.write(NOON, [team(id)], ANN);
    close(engine);
  };

  it.each([
    ['edited', `UPDATE audit SET actor = 'eve' WHERE seq = 3`, 3, 'its values are not those of its hash'],
    ['removed', 'DELETE FROM audit WHERE seq = 2', 2, 'row 2 is missing'],
    [
      'renumbered after a removal',
      'DELETE FROM audit WHERE seq = 2; UPDATE audit SET seq = seq - 1 WHERE seq > 2',
      2,
      'it does not follow the row before it',
    ],
    [
      'swapped',
      'UPDATE audit SET seq = seq * -1 WHERE seq IN (2, 3); UPDATE audit SET seq = 5 + seq WHERE seq < 0',
      2,
      'it does not follow the row before it',
    ],
  ])('shows a row that was %s', (_, sql, at, reason) => {
    written();
    tamper(`DROP TRIGGER audit_update; DROP TRIGGER audit_delete; ${sql}`);
    expect(open().calls.verifyAudit(NOON)).toEqual({ intact: false, at, reason });
  });

  it('shows that its first rows were removed, unless a row of it says so', () => {
    written();
    const engine = open();
    expect(engine.calls.dropAudit(NOON, NOON * 2, ANN)).toBe(3);
    expect(engine.calls.verifyAudit(NOON)).toMatchObject({ intact: true, rows: 2 });
    close(engine);
    expect(() => tamper('DELETE FROM audit')).toThrow('audit rows are not removed');
    tamper('DROP TRIGGER audit_delete; DELETE FROM audit WHERE seq = 4');
    expect(open().calls.verifyAudit(NOON)).toEqual({ intact: false, at: 4, reason: 'row 4 is missing' });
  });

  it('is not changed by a statement that forgets the triggers', () => {
    written();
    expect(() => tamper(`UPDATE audit SET actor = 'eve'`)).toThrow('audit rows are not changed');
    expect(() => tamper('DELETE FROM audit')).toThrow('audit rows are not removed');
    expect(open().calls.verifyAudit(NOON)).toMatchObject({ intact: true, rows: 4 });
  });
});

describe('the keys that seal secrets', () => {
  const ref = { kind: 'teams', id: 'search' } as const;

  it.each([
    ['another key under the same name', `k1:${Buffer.alloc(32, 8).toString('base64')}`],
    ['a ring without a key that is in use', OTHER_KEY],
    ['no key', ''],
  ])('refuse to open a store with %s', (_, keys) => {
    const engine = open();
    engine.calls.write(NOON, [sealed], ANN);
    close(engine);
    expect(codeOf(() => open(keys))).toBe('sealed');
  });

  it('change: the first one seals, the others open, and can go after one start with both', () => {
    const engine = open();
    engine.calls.write(NOON, [sealed], ANN);
    close(engine);
    const both = open(`${OTHER_KEY},${KEYS}`);
    expect(both.calls.unseal(NOON, ref, 'webhook')).toBe('canary-4711');
    close(both);
    expect(open(OTHER_KEY).calls.unseal(NOON, ref, 'webhook')).toBe('canary-4711');
  });

  it('open no value that was moved to another row', () => {
    const engine = open();
    engine.calls.write(NOON, [sealed, { ...team('ads'), secrets: { webhook: 'other' } }], ANN);
    close(engine);
    tamper(`UPDATE sealed SET envelope = (SELECT envelope FROM sealed WHERE id = 'search') WHERE id = 'ads'`);
    expect(codeOf(() => open().calls.unseal(NOON, { kind: 'teams', id: 'ads' }, 'webhook'))).toBe('sealed');
  });

  it('are needed to store a secret, and for nothing else', () => {
    const { calls } = open('');
    expect(codeOf(() => calls.write(NOON, [sealed], ANN))).toBe('sealed');
    expect(calls.write(NOON, [team('search')], ANN)).toBe(1);
  });
});

describe('a transaction', () => {
  it('that finds the disk full leaves nothing, and a later one works', () => {
    open();
    const db = new Database(join(folder, 'full.db'), { synchronous: 'FULL' });
    db.exec('CREATE TABLE t (a TEXT) STRICT; PRAGMA max_page_count = 10');
    const fill = (rows: number): void =>
      db.transaction(() => {
        for (let row = 0; row < rows; row += 1) db.run('INSERT INTO t VALUES (?)', 'x'.repeat(1_000));
      });
    expect(codeOf(() => fill(100))).toBe('unavailable');
    expect(db.get('SELECT count(*) AS count FROM t')).toEqual({ count: 0 });
    fill(3);
    expect(db.get('SELECT count(*) AS count FROM t')).toEqual({ count: 3 });
    db.close();
  });

  it('waits for a lock for a bounded time', () => {
    open();
    const path = join(folder, 'locked.db');
    const [one, other] = [new Database(path, { synchronous: 'FULL' }), new Database(path, { synchronous: 'FULL' })];
    other.exec('PRAGMA busy_timeout = 10');
    one.transaction(() => expect(codeOf(() => other.transaction(() => {}))).toBe('unavailable'));
    expect(codeOf(() => other.transaction(() => {}))).toBeUndefined();
    one.close();
    other.close();
  });
});

describe('the tables of a store', () => {
  const database = (): Database => new Database(join(folder, '..', 'tables.db'), { synchronous: 'FULL' });
  const steps = [
    { number: 1, name: 'one', sql: 'CREATE TABLE one (a INTEGER) STRICT' },
    { number: 2, name: 'two', sql: 'CREATE TABLE two (a INTEGER) STRICT; INSERT INTO one VALUES (1)' },
  ];

  it('get each step once', () => {
    const db = database();
    migrate(db, planMigrations(db, steps.slice(0, 1)), NOON);
    const plan = planMigrations(db, steps);
    expect([plan.applied, plan.missing.map(({ number }) => number)]).toEqual([1, [2]]);
    migrate(db, plan, NOON);
    expect(planMigrations(db, steps).missing).toEqual([]);
    expect(db.get('SELECT count(*) AS count FROM one')).toEqual({ count: 1 });
    db.close();
  });

  it('stay at the step before one that fails', () => {
    const db = database();
    const failing = [...steps, { number: 3, name: 'three', sql: 'DELETE FROM one; CREATE TABLE two (a INTEGER)' }];
    expect(() => migrate(db, planMigrations(db, failing), NOON)).toThrow('table two already exists');
    expect(planMigrations(db, failing).applied).toBe(2);
    expect(db.get('SELECT count(*) AS count FROM one')).toEqual({ count: 1 });
    db.close();
  });

  it('of a later release, and steps that were edited, refuse the start', () => {
    const db = database();
    migrate(db, planMigrations(db, steps), NOON);
    expect(codeOf(() => planMigrations(db, steps.slice(0, 1)))).toBe('newer_store');
    expect(codeOf(() => planMigrations(db, [steps[0]!, { ...steps[1]!, sql: 'SELECT 1' }]))).toBe('damaged');
    db.close();
  });

  it('have steps in their order', () => {
    expect(MIGRATIONS.map(({ number }) => number)).toEqual(MIGRATIONS.map((_, index) => index + 1));
  });

  it('that are no database are damaged', () => {
    const engine = open();
    close(engine);
    rmSync(join(folder, 'state.db'));
    const db = new DatabaseSync(join(folder, 'state.db'));
    db.exec('PRAGMA journal_mode = DELETE; CREATE TABLE migration (number INTEGER, sha256 TEXT)');
    db.exec(`INSERT INTO migration VALUES (1, 'other')`);
    db.close();
    expect(codeOf(() => open())).toBe('damaged');
  });
});
