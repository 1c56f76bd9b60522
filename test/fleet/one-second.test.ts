import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../src/plugin/testing/index.ts';
import { until } from '../support/gateway.ts';
import { postgresMissing, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { json, openaiReply, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import { putKey, secretOf, startFleetGateway, write, type FleetGateway } from './gateways.ts';

const missing = postgresMissing();

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
    ])('is known on B %s', async (_, schema, more, ms) => {
      const clock = createFakeClock(Date.now());
      const setup = { url: server.url(), upstream: upstream.url, store: { schema, ...more } };
      const [a, b] = [await startFleetGateway(setup), await startFleetGateway({ ...setup, clock })];
      try {
        if (ms === 0) await until(async () => (await listeners(server)) === 2, 'both listen');
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
  },
);

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
