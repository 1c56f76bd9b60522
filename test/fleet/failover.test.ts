import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../support/gateway.ts';
import { postgresMissing, startPostgres, startStandby, type TestPostgres } from '../support/postgres.ts';
import { startRelay } from '../support/relay.ts';
import {
  answers,
  COST,
  load,
  putKey,
  secretOf,
  startFleetGateway,
  startFleetUpstream,
  write,
  type FleetGateway,
} from './gateways.ts';

const missing = postgresMissing(['initdb', 'postgres', 'pg_basebackup', 'pg_ctl']);
const ended: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

async function onServer(server: TestPostgres, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(server.url());
  await client.connect();
  const { rows } = await client.query<Record<string, unknown>>(sql);
  await client.end();
  return rows;
}

/** A primary, a standby that follows it through one relay, and two gateways that reach the primary through another. */
async function start(settings: readonly string[]) {
  const upstream = await startFleetUpstream();
  ended.push(() => upstream.close());
  const primary = await startPostgres(settings);
  ended.push(() => primary.end());
  const stream = await startRelay(primary.port);
  ended.push(() => stream.close());
  const standby = await startStandby(primary, stream.port);
  ended.push(() => standby.end());
  await until(
    async () => (await onServer(primary, "SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'")).length === 1,
    'the standby follows',
  );
  const address = await startRelay(primary.port);
  ended.push(() => address.close());
  const gateways: FleetGateway[] = [];
  for (let at = 0; at < 2; at += 1) {
    const gateway = await startFleetGateway({ url: primary.url(address.port), upstream: upstream.url });
    ended.push(() => gateway.close());
    gateways.push(gateway);
  }
  for (const gateway of gateways) await answers(gateway);
  /** The address leads to the standby, which is the primary from now on. */
  const failOver = async (): Promise<void> => {
    await primary.kill();
    await standby.promote();
    address.lead(standby.port);
  };
  return { upstream, stream, gateways: gateways as [FleetGateway, FleetGateway], failOver };
}

describe.skipIf(missing !== undefined)(
  `two gateways whose PostgreSQL fails over${missing === undefined ? '' : ` (${missing})`}`,
  { timeout: 600_000 },
  () => {
    it('to a standby that has each commit serve each request, keep to the budget, and lose no row', async () => {
      const { gateways, failOver } = await start(['synchronous_standby_names=*']);
      const [a, b] = gateways;
      const [free, capped] = [secretOf('f'), secretOf('g')];
      const most = 200;
      await write(
        a,
        putKey('free', free),
        { op: 'put', kind: 'teams', id: 'search', doc: {} },
        putKey('capped', capped, { team: 'search' }),
        {
          op: 'put',
          kind: 'budgets',
          id: 'b1',
          doc: { node: 'team:search', cap: `${(most * COST) / 1e9} USD`, period: 'total' },
        },
      );
      for (const { ask } of gateways) await until(async () => (await ask(capped)) === 200, 'the keys are known');
      const [uncapped, spending] = [load(gateways, free), load(gateways, capped)];
      await until(() => uncapped.count > 50 && spending.count > 20, 'the load has begun');
      await failOver();
      for (const gateway of gateways) await answers(gateway);
      await until(() => (spending.statuses.get(200) ?? 0) < spending.count, 'the budget refuses requests');
      for (const one of [uncapped, spending]) await one.stop();
      expect([...uncapped.statuses.keys()]).toEqual([200]);
      expect(spending.statuses.has(401)).toBe(false);
      // Two requests were sent before the load, one on each gateway at least.
      const rowsOf = async (key: string) => (await b.rows()).filter((row) => row.key === key && row.kind === 'try');
      await until(async () => (await rowsOf('free')).length >= uncapped.count, 'the ledger has all requests');
      const rows = await rowsOf('free');
      expect([rows.length, new Set(rows.map(({ req }) => req)).size]).toEqual([uncapped.count, uncapped.count]);
      const spent = async (): Promise<number> => (await rowsOf('capped')).reduce((sum, { nano }) => sum + nano, 0);
      await until(
        async () => (await spent()) >= (spending.statuses.get(200) ?? 0) * COST,
        'the ledger has what was spent',
      );
      // Each gateway had one request of the budget in flight, whose reserve is less than its cost.
      expect(await spent()).toBeLessThanOrEqual((most + 2) * COST);
      const key = secretOf('h');
      await write(b, putKey('after', key));
      await until(async () => (await a.ask(key)) === 200, 'a key that is made after the failover is valid on A');
      expect(await a.store(({ audit }) => audit.verify())).toMatchObject({ intact: true });
    });

    it('to one that lacks the last commits serve each request, lose no row, and admit no key that was revoked by these', async () => {
      const { gateways, failOver, stream } = await start([]);
      const [a, b] = gateways;
      const [free, revoked, late, later] = ['f', 'g', 'h', 'i'].map(secretOf) as [string, string, string, string];
      await write(a, putKey('free', free), putKey('revoked', revoked), putKey('late', late), putKey('later', later));
      for (const { ask } of gateways) await until(async () => (await ask(revoked)) === 200, 'the keys are known');
      const uncapped = load(gateways, free);
      await until(() => uncapped.count > 50, 'the load has begun');
      await until(async () => (await a.rows()).filter(({ key }) => key === 'free').length > 50, 'the ledger has rows');
      // From here on the standby gets nothing: its commits are lost.
      stream.set('hang');
      await write(a, { op: 'delete', kind: 'keys', id: 'revoked' });
      for (const { ask } of gateways) await until(async () => (await ask(revoked)) === 401, 'the key is revoked');
      expect(await a.ask(late)).toBe(200);
      await sleep(2_000);
      await failOver();
      for (const gateway of gateways) await answers(gateway);
      // The lost commits gave a number to the name of the one key, and the new primary gives it to the other.
      expect([await b.ask(later), await a.ask(late)]).toEqual([200, 200]);
      await uncapped.stop();
      expect([...uncapped.statuses.keys()]).toEqual([200]);
      for (const { ask } of gateways) expect(await ask(revoked)).toBe(401);
      await until(
        () => gateways.every(({ logs }) => logs().includes('the state store went back')),
        'both have noticed',
      );
      const countsOf = async (): Promise<unknown> => {
        const query = { from: 0, to: Date.now() + 86_400_000, by: ['key'], step: 'all' } as const;
        const sums = await b.store(({ ledger }) => ledger.rollups(query));
        return Object.fromEntries(sums.map(({ names, requests }) => [names.key, requests]));
      };
      const rowsOf = async (name: string) => (await b.rows()).filter(({ key }) => key === name).map(({ req }) => req);
      await until(async () => (await rowsOf('free')).length >= uncapped.count, 'the ledger has all requests');
      await until(async () => (await rowsOf('late')).length >= 2, 'the ledger has those of the other key');
      expect(await countsOf()).toMatchObject({ free: uncapped.count, late: 2, later: 1 });
      const found = await rowsOf('free');
      expect([found.length, new Set(found).size]).toEqual([uncapped.count, uncapped.count]);
    });
  },
);
