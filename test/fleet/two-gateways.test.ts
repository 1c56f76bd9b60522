import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isFull } from '../support/effort.ts';
import { postgresMissing, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { inTurns } from '../support/in-turns.ts';
import { startRelay, type Relay } from '../support/relay.ts';
import type { ScriptedUpstream } from '../support/upstream.ts';
import { KEY, until } from '../support/gateway.ts';
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

const missing = postgresMissing();

let postgres: TestPostgres;
let relay: Relay;
let upstream: ScriptedUpstream;
let running: FleetGateway[];
let schemas = 0;

beforeAll(async () => {
  if (missing === undefined) postgres = await startPostgres();
}, 300_000);
afterAll(() => postgres?.end());

beforeEach(async () => {
  if (missing !== undefined) return;
  running = [];
  schemas += 1;
  relay = await startRelay(postgres.port);
  upstream = await startFleetUpstream();
});
afterEach(async () => {
  relay?.set('pass');
  for (const gateway of running ?? []) await gateway.close();
  await upstream?.close();
  await relay?.close();
});

async function start(more: Partial<Parameters<typeof startFleetGateway>[0]> = {}): Promise<FleetGateway> {
  const gateway = await startFleetGateway({
    url: postgres.url(relay.port),
    upstream: upstream.url,
    ...more,
    store: { schema: `fleet_${schemas}`, ...more.store },
  });
  running.push(gateway);
  return gateway;
}

async function startTwo(store: object = {}): Promise<[FleetGateway, FleetGateway]> {
  const [a, b] = [await start({ store }), await start({ store })];
  for (const one of [a, b]) await answers(one);
  return [a, b];
}

const sumsOf = ({ store }: FleetGateway) =>
  store(({ ledger }) => ledger.rollups({ from: 0, to: Date.now() + 86_400_000, by: [], step: 'all' }));

const LEAST = { rounds: isFull('fleet') ? 1000 : 60, ms: 4_000 };

describe.skipIf(missing !== undefined)(
  `two gateways on one PostgreSQL${missing === undefined ? '' : ` (${missing})`}`,
  { timeout: 600_000 },
  () => {
    it.each([
      ['by notifications', {}],
      ['by looks alone', { listen: false }],
    ])('share keys: one that is made on A is valid on B and, once revoked there, on neither, %s', async (_, store) => {
      const [a, b] = await startTwo(store);
      const key = secretOf('a');
      expect(await b.ask(key)).toBe(401);
      await write(a, putKey('stored', key));
      await until(async () => (await b.ask(key)) === 200, 'the key is valid on B');
      await write(b, { op: 'delete', kind: 'keys', id: 'stored' });
      // A write wakes both, and either may have read it first.
      await until(async () => (await a.ask(key)) === 401, 'the key is revoked on A');
      await until(async () => (await b.ask(key)) === 401, 'the key is revoked on B');
      expect(await a.ask(key)).toBe(401);
    });

    it('spend a budget once, and have the same ledger and one intact audit', async () => {
      const [a, b] = await startTwo();
      const key = secretOf('b');
      const most = 20;
      await write(a, { op: 'put', kind: 'teams', id: 'search', doc: {} }, putKey('stored', key, { team: 'search' }), {
        op: 'put',
        kind: 'budgets',
        id: 'b1',
        doc: { node: 'team:search', cap: `${(most * COST) / 1e9} USD`, period: 'total' },
      });
      await until(async () => (await b.ask(key)) !== 401, 'the key is known on B');
      let admitted = 0;
      const spend = async ({ ask }: FleetGateway): Promise<void> => {
        for (let sent = 0; sent < 40; sent += 1) if ((await ask(key)) === 200) admitted += 1;
      };
      await Promise.all([a, b, a, b].map(spend));
      const spentBy = async ({ rows }: FleetGateway): Promise<number> =>
        (await rows()).filter((row) => row.key === 'stored').reduce((sum, { nano }) => sum + nano, 0);
      await until(async () => (await spentBy(a)) >= admitted * COST, 'the ledger has all requests');
      expect(await spentBy(a)).toBeLessThanOrEqual(most * COST);
      // What a lease still has may keep the last requests out, and comes back.
      await until(async () => {
        await Promise.all([a, b].map(({ ask }) => ask(key)));
        return (await spentBy(a)) > (most - 2) * COST;
      }, 'the budget is spent but for one request of each gateway');
      await until(async () => (await a.rows()).length === upstream.seen.length, 'each answer has its row');
      expect(await spentBy(a)).toBeLessThanOrEqual(most * COST);
      const [rowsOfA, rowsOfB] = [await a.rows(), await b.rows()];
      expect(rowsOfA).toEqual(rowsOfB);
      expect(upstream.seen.length).toBe(rowsOfA.length);
      const sums = await sumsOf(b);
      expect(sums).toMatchObject([
        { nano: rowsOfA.reduce((sum, { nano }) => sum + nano, 0), requests: rowsOfA.length },
      ]);
      const verdicts = await Promise.all([a, b].map(({ store }) => store(({ audit }) => audit.verify())));
      expect(verdicts[0]).toMatchObject({ intact: true });
      expect(verdicts[1]).toEqual(verdicts[0]);
    });

    it.each([
      ['cut', 0],
      ['hang', 0],
      ['deaf', 0],
      ['pass', 200],
    ] as const)(
      'serve while the network of their store is: %s, %d ms, without a failed or a slower request, and lose no row',
      async (mode, delay) => {
        const [a, b] = await startTwo();
        const other = await start({ url: postgres.url(), store: { schema: `beside_${schemas}` } });
        await answers(other);
        for (const gateway of [a, b, other]) expect(await gateway.ask()).toBe(200);
        relay.set(mode, delay);
        // Beside those whose store is away one works whose store is not.
        const asks = [a, b, other].map((one) => () => one.ask());
        const { rounds, answers: statuses, p50, p99 } = await inTurns(asks, LEAST);
        relay.set('pass');
        const ratios = [p50, p99].map(([ofA, ofB, beside]) => (Math.max(ofA!, ofB!) / beside!).toFixed(2));
        console.log(`${mode}, ${delay} ms: p50 ${ratios[0]} x, p99 ${ratios[1]} x of a gateway whose store answers`);
        expect([...statuses]).toEqual([200]);
        // A request that waited for the store would take 200 ms or more, thirty times as long.
        for (const ms of p50.slice(0, 2)) expect(ms).toBeLessThan(3 * p50[2]!);
        await answers(a);
        const count = 2 * (rounds + 1);
        await until(async () => (await a.rows()).length >= count, 'the ledger has all requests');
        expect(new Set((await a.rows()).map(({ req }) => req)).size).toBe(count);
        const key = secretOf('c');
        await write(a, putKey('after', key));
        await until(async () => (await b.ask(key)) === 200, 'a key that is made after the mend is valid on B');
      },
    );

    it('lose no row and refuse no request while PostgreSQL is killed and recovers', async () => {
      const [a, b] = await startTwo();
      const requests = load([a, b], KEY);
      await until(() => requests.count > 50, 'the load has begun');
      await postgres.kill();
      await sleep(2_000);
      await postgres.start();
      for (const gateway of [a, b]) await answers(gateway);
      await requests.stop();
      const { count, statuses } = requests;
      expect([...statuses.keys()]).toEqual([200]);
      await until(async () => (await a.rows()).length >= count, 'the ledger has all requests');
      const rows = await a.rows();
      expect([rows.length, new Set(rows.map(({ req }) => req)).size]).toEqual([count, count]);
      const [sum] = await sumsOf(a);
      expect([sum?.requests, sum?.nano]).toEqual([count, count * COST]);
    });

    it('start from the snapshot of their folder while the store is away, and know its keys', async () => {
      const dir = mkdtempSync(join(tmpdir(), 'gatehouse-replica-'));
      try {
        const first = await start({ dir });
        await answers(first);
        const key = secretOf('d');
        await write(first, putKey('stored', key));
        await until(async () => (await first.ask(key)) === 200, 'the key is valid');
        await running.pop()!.close();
        relay.set('cut');
        const again = await start({ dir });
        expect(await again.ask(key)).toBe(200);
        expect(again.logs()).toContain('its last snapshot serves');
        relay.set('pass');
        await answers(again);
        await again.close();
        running.pop();
      } finally {
        rmSync(dir, { recursive: true, force: true });
      }
    });

    it('start before the store and write the first token of the admin API once it answers', async () => {
      relay.set('cut');
      const gateway = await start({ server: { admin: { host: '127.0.0.1', port: 0 } } });
      relay.set('pass');
      await until(() => gateway.logs().includes('the admin API has no admin token'), 'the token is offered');
      expect(existsSync(join(gateway.dir, 'bootstrap-token'))).toBe(true);
    });

    it('show the password nowhere', async () => {
      const gateway = await start();
      relay.set('cut');
      await until(() => gateway.logs().includes('the state store does not answer'), 'the log says so');
      const { password } = new URL(postgres.url());
      expect(gateway.logs()).not.toContain(password);
      relay.set('pass');
    });
  },
);
