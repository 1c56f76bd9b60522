import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../src/plugin/testing/index.ts';
import { isFull } from '../support/effort.ts';
import { until } from '../support/gateway.ts';
import { postgresMissing, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { startRelay } from '../support/relay.ts';
import { json, openaiReply, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import { putKey, secretOf, startFleetGateway, write, type FleetGateway } from './gateways.ts';

const missing = postgresMissing();
/** Keys that the store has beside the one that changes, and of one write. */
const KEYS = isFull('fleet') ? 10_000 : 200;
const AT_ONCE = 200;

/** The time that passes for a gateway is that of its clock, whose timers stand still: a busy machine changes nothing. */
describe.skipIf(missing !== undefined)(
  `a key that A has made or revoked${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let server: TestPostgres;
    let upstream: ScriptedUpstream;
    beforeAll(async () => {
      server = await startPostgres();
      upstream = await startUpstream((_, res) => json(res, openaiReply('hello')));
    }, 300_000);
    afterAll(async () => {
      await upstream?.close();
      await server?.end();
    });

    it.each([
      ['by a notification, before a timer of B', 'notified', {}, 0],
      ['by looks alone, within 1.2 s of B', 'looked', { listen: false }, 1_200],
    ])('is known on B %s', { timeout: 600_000 }, async (_, schema, more, ms) => {
      const clock = createFakeClock(Date.now());
      const setup = { url: server.url(), upstream: upstream.url, store: { schema, ...more } };
      const [a, b] = [await startFleetGateway(setup), await startFleetGateway({ ...setup, clock })];
      try {
        if (ms === 0) await until(async () => (await listeners(server)) === 2, 'both listen');
        for (let at = 0; at < KEYS; at += AT_ONCE)
          await write(a, ...Array.from({ length: AT_ONCE }, (__, n) => putKey(`k${at + n}`, numbered(at + n))));
        await clock.advance(ms);
        await until(async () => (await b.ask(numbered(KEYS - 1))) === 200, 'B has all keys');
        const key = secretOf('k');
        expect(await b.ask(key)).toBe(401);
        await write(a, putKey('made', key));
        await passes(clock, ms, async () => (await b.ask(key)) === 200, 'it is valid on B');
        await write(a, { op: 'delete', kind: 'keys', id: 'made' });
        await passes(clock, ms, async () => (await b.ask(key)) === 401, 'it is revoked on B');
      } finally {
        await a.close();
        await closeBy(clock, b);
      }
    });

    it(
      'while B could not reach the store is known there within 1.2 s of B after the mend',
      { timeout: 600_000 },
      async () => {
        const clock = createFakeClock(Date.now());
        const relay = await startRelay(server.port);
        const setup = { upstream: upstream.url, store: { schema: 'mended', listen: false } };
        const a = await startFleetGateway({ ...setup, url: server.url() });
        const b = await startFleetGateway({ ...setup, url: server.url(relay.port), clock });
        try {
          const [made, revoked] = [secretOf('m'), secretOf('r')];
          await write(a, putKey('revoked', revoked));
          await passes(clock, 1_200, async () => (await b.ask(revoked)) === 200, 'it is valid on B');
          relay.set('cut');
          await clock.advance(1_200);
          await until(() => b.gateway.state?.store === undefined, 'B has noticed');
          await write(a, putKey('made', made), { op: 'delete', kind: 'keys', id: 'revoked' });
          expect([await b.ask(made), await b.ask(revoked)]).toEqual([401, 200]);
          relay.set('pass');
          await passes(clock, 1_200, async () => (await b.ask(made)) === 200, 'it is valid on B');
          expect(await b.ask(revoked)).toBe(401);
        } finally {
          relay.set('pass');
          await a.close();
          await closeBy(clock, b);
          await relay.close();
        }
      },
    );
  },
);

const numbered = (number: number): string => `gatehouse_abcdefghijkl_${String(number).padStart(43, 'a')}012345`;

/** Without a wait for time, a change that only a timer brings does not come. */
async function passes(clock: FakeClock, ms: number, condition: () => Promise<boolean>, what: string): Promise<void> {
  if (ms > 0) {
    expect(await condition()).toBe(false);
    await clock.advance(ms);
  }
  await until(condition, what);
}

/** Connections that have asked for notifications: they show that they live with this statement alone. */
async function listeners(server: TestPostgres): Promise<number> {
  const client = new pg.Client(server.url());
  await client.connect();
  const { rows } = await client.query(`SELECT 1 FROM pg_stat_activity WHERE query = 'SELECT 1' AND state = 'idle'`);
  await client.end();
  return rows.length;
}

async function closeBy(clock: FakeClock, gateway: FleetGateway): Promise<void> {
  const closed = gateway.close().then(() => true);
  while (!(await Promise.race([closed, sleep(5, false)]))) await clock.advance(1_000);
}
