import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { NEXT_STEP } from '../../../../test/fleet/next-step.ts';
import { startRelay } from '../../../../test/support/relay.ts';
import type { Boot } from '../../../core/ports/counters.ts';
import { ANN, rowOf } from '../../budgets/store/contract/opened-store.testkit.ts';
import { readAddress, type DatabaseAddress } from '../settings/address.ts';
import { STEPS } from '../tables/migrations.ts';
import { newSchema, useServer } from './try-server.testkit.ts';

const used = useServer(['ssl=on']);
const { missing } = used;
const open: typeof used.open = (more) => used.open(more);

async function onServer<Row extends object>(sql: string): Promise<Row[]> {
  const client = new pg.Client(used.server.url());
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

const boot = (digit: number): Boot => ({
  id: digit.toString(16).repeat(32),
  host: 'test',
  role: 'single',
  version: '1',
  configHash: '',
  startedAt: 0,
});

describe.skipIf(missing !== undefined)(`a store in PostgreSQL${missing === undefined ? '' : ` (${missing})`}`, () => {
  it('is made once by eight gateways that start at once', async () => {
    const schema = newSchema();
    const stores = await Promise.all(Array.from({ length: 8 }, () => open({ schema })));
    const steps = await onServer<{ number: number }>(`SELECT number FROM ${schema}.migration`);
    expect(steps).toEqual(STEPS.map(({ number }) => ({ number })));
    const epochs = await Promise.all(stores.map(async ({ entities }) => (await entities.load(0)).epoch.id));
    expect(new Set(epochs).size).toBe(1);
  });

  it('refuses a start on tables of a later release, and goes on where they come while it runs', async () => {
    const schema = newSchema();
    const store = await open({ schema });
    const later = await open({ schema, steps: [...STEPS, NEXT_STEP] });
    for (const one of [store, later])
      await one.counters.adjust(
        { node: 'a', period: 0, id: randomBytes(4).toString('hex'), of: 'spent', by: 1, why: '' },
        ANN,
      );
    expect(await store.counters.read([{ node: 'a', period: 0 }])).toMatchObject([{ spent: 2 }]);
    await expect(open({ schema })).rejects.toMatchObject({ code: 'newer_store' });
  });

  it('stays at the step before one that fails, and refuses a step that is another one', async () => {
    const schema = newSchema();
    await open({ schema });
    const broken = [
      ...STEPS,
      { number: STEPS.length + 1, name: 'broken', sql: 'CREATE TABLE half (a int); SELECT 1 / 0' },
    ];
    await expect(open({ schema, steps: broken })).rejects.toThrow('division by zero');
    expect(await onServer(`SELECT to_regclass('${schema}.half') AS half`)).toEqual([{ half: null }]);
    await open({ schema });
    const other = [{ ...STEPS[0]!, sql: 'SELECT 1' }];
    await expect(open({ schema, steps: other })).rejects.toMatchObject({ code: 'damaged' });
  });

  it('repeats a call that ended in a deadlock, three times', async () => {
    const schema = newSchema();
    const store = await open({ schema });
    // Numbers of a sequence are not rolled back.
    await onServer(
      `CREATE SEQUENCE ${schema}.tries; CREATE FUNCTION ${schema}.fails() RETURNS trigger LANGUAGE plpgsql AS $fn$ BEGIN
         IF nextval('${schema}.tries') % 5 IN (1, 2, 3) OR NEW.node = 'always' THEN RAISE EXCEPTION 'x' USING ERRCODE = '40P01'; END IF;
         RETURN NEW; END $fn$;
       CREATE TRIGGER fails BEFORE INSERT ON ${schema}.counter FOR EACH ROW EXECUTE FUNCTION ${schema}.fails()`,
    );
    const ask = (node: string) => ({ path: [{ node, period: 0 }], caps: [100], need: 1, want: 1 });
    expect((await store.counters.take([ask('a')], boot(1), 1)).grants).toMatchObject([{ granted: 1 }]);
    await expect(store.counters.take([ask('always')], boot(1), 2)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('lets 20 processes at once race for the last of a cap, and grants no more', async () => {
    const schema = newSchema();
    const stores = [await open({ schema }), await open({ schema })];
    const path = [
      { node: 'team', period: 0 },
      { node: 'key', period: 0 },
    ];
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) => {
        const by = { ...boot(1), id: index.toString(16).padStart(32, '0') };
        const order = index % 2 === 0 ? path : path.toReversed();
        return stores[index % 2]!.counters.take([{ path: order, caps: [100, 100], need: 7, want: 7 }], by, 1);
      }),
    );
    const granted = results.map(({ grants }) => grants[0]!.granted);
    expect(granted.filter((amount) => amount === 7)).toHaveLength(14);
    expect(await stores[0]!.counters.read(path)).toMatchObject([{ leased: 98 }, { leased: 98 }]);
  });

  it('heals itself after its connections broke, and rejects with `unavailable` in between', async () => {
    const relay = await startRelay(used.server.port);
    const store = await open({ url: used.server.url(relay.port), listen: true, patience: 3 });
    store.entities.watch(() => {});
    await store.entities.load(0);
    relay.set('cut');
    await expect(store.entities.load(0)).rejects.toMatchObject({ code: 'unavailable' });
    relay.set('pass');
    await expect
      .poll(() =>
        store.entities.load(0).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    await onServer("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'gatehouse'");
    await expect
      .poll(() =>
        store.entities.load(0).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    await store.close();
    await store.close();
    await expect(store.entities.load(0)).rejects.toMatchObject({ code: 'unavailable' });
    await relay.close();
  });

  it('gives up an answer that does not come, and closes although its connections hang', async () => {
    const relay = await startRelay(used.server.port);
    const store = await open({ url: used.server.url(relay.port), connections: 2, patience: 5 });
    relay.set('hang');
    const calls = Array.from({ length: 6 }, () => store.counters.read([{ node: 'a', period: 0 }]));
    for (const { status, reason } of (await Promise.allSettled(calls)) as PromiseRejectedResult[])
      expect([status, reason.code]).toEqual(['rejected', 'unavailable']);
    await store.close();
    await relay.close();
  });

  it('takes no lease and no load from a server that is read-only, and writes again when it is not', async () => {
    const schema = newSchema();
    const store = await open({ schema });
    const readOnly = (value: string) =>
      onServer(`ALTER DATABASE postgres SET default_transaction_read_only = ${value}`);
    await readOnly('on');
    await onServer("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'gatehouse'");
    const failures = async (): Promise<unknown[]> => [
      await store.entities.load(0).catch((error: unknown) => error),
      await store.counters.notify({ node: 'a', period: 0 }, 0).catch((error: unknown) => error),
    ];
    await expect.poll(async () => (await failures()).map(String).join()).toMatch(/read-only.*read-only/);
    expect(await failures()).toMatchObject([{ code: 'unavailable' }, { code: 'unavailable' }]);
    await onServer('BEGIN READ WRITE; ALTER DATABASE postgres RESET default_transaction_read_only; COMMIT');
    // The connections that were refused are closed: new ones have the new default.
    await expect.poll(() => store.counters.notify({ node: 'a', period: 0 }, 0).catch(() => false)).toBe(true);
  });

  it('verifies the certificate of its server', async () => {
    const url = used.server.url().replace('127.0.0.1', 'localhost');
    const store = await open({ url, ca: used.server.ca });
    expect((await store.entities.load(0)).version).toBe(0);
    const [{ encrypted } = { encrypted: 0 }] = await onServer<{ encrypted: number }>(
      `SELECT count(*)::integer AS encrypted FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE ssl AND application_name = 'gatehouse'`,
    );
    expect(encrypted).toBeGreaterThan(0);
    // Its name is another one, and its authority is unknown.
    await expect(open({ url: used.server.url(), ca: used.server.ca })).rejects.toThrow(/altname|does not match|IP/i);
    const foreign = { ...(readAddress(url) as DatabaseAddress), isLoopback: false };
    await expect(open({ address: foreign })).rejects.toThrow(/self.signed|unable to (?:verify|get)/i);
  });

  it('takes nothing from the environment', async () => {
    const set = {
      PGOPTIONS: '-c search_path=nowhere -c statement_timeout=1',
      PGPASSWORD: 'x',
      PGSSLMODE: 'no-verify',
      PGREPLICATION: 'database',
      PGHOST: 'nowhere',
      PGSSLNEGOTIATION: 'direct',
    };
    const before = Object.fromEntries(Object.keys(set).map((name) => [name, process.env[name]]));
    Object.assign(process.env, set);
    try {
      const store = await open({ listen: true });
      expect((await store.entities.load(0)).version).toBe(0);
      await expect(open({ url: used.server.url().replace(/:[^:@]+@/, '@') })).rejects.toThrow(/password/i);
    } finally {
      for (const [name, value] of Object.entries(before))
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
    }
  });

  it('keeps rows whose texts no database stores, with a sign in the place of what it cannot', async () => {
    const { ledger } = await open();
    const hostile = [`a\0b`, '\ud800x', "it's \\ 'quoted'\t\n\r\\N", '"; DROP TABLE ledger; --'];
    const rows = hostile.map((text, number) => rowOf(number, { model: text, requestId: text, key: text }));
    expect(await ledger.append(rows)).toBe(4);
    const found = [];
    for await (const piece of ledger.rows({ from: 0, to: 4e12, where: { model: hostile } })) found.push(...piece);
    expect(found.map(({ model, requestId, key }) => [model, requestId, key])).toEqual(
      ['a\ufffdb', '\ufffdx', ...hostile.slice(2)].map((text) => [text, text, text]),
    );
    expect(
      await ledger.rollups({ from: 0, to: 4e12, by: ['model'], step: 'all', where: { model: [hostile[3]!] } }),
    ).toMatchObject([{ names: { model: hostile[3] }, attempts: 1 }]);
  });

  it('gives the disk of a day back: its tables are gone, also those that a killed process left, and later days and all sums stay', async () => {
    const schema = newSchema();
    const { ledger } = await open({ schema });
    const days = ['2026-11-20', '2026-11-21', '2026-11-22'];
    await ledger.append(days.map((day, number) => rowOf(number, { at: Date.parse(day), nano: 5 })));
    const tables = async (): Promise<string[]> =>
      (
        await onServer<{ relname: string }>(
          `SELECT relname FROM pg_class WHERE relnamespace = '${schema}'::regnamespace AND relkind = 'r' AND relname ~ '^ledger_[0-9]+$'`,
        )
      ).map(({ relname }) => relname);
    const numberOf = (day: string): string => `ledger_${Date.parse(day) / 86_400_000}`;
    const all = await tables();
    expect(all).toEqual(expect.arrayContaining(days.map(numberOf)));
    await onServer(`ALTER TABLE ${schema}.ledger DETACH PARTITION ${schema}.${numberOf(days[0]!)}`);
    await ledger.dropBefore('2026-11-22');
    expect((await tables()).toSorted()).toEqual(
      all.filter((name) => !days.slice(0, 2).map(numberOf).includes(name)).toSorted(),
    );
    expect(await ledger.rollups({ from: 0, to: 4e12, by: [], step: 'all' })).toMatchObject([{ nano: 15 }]);
  });

  it('shows the password in no failure', async () => {
    const { password } = new URL(used.server.url());
    const wrong = used.server.url().replace(password, 'canary-4711');
    const error = await open({ url: wrong }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'unavailable' });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error)) + String((error as Error).stack)).not.toContain(
      'canary',
    );
  });
});
