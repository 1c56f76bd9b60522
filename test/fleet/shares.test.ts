import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../support/gateway.ts';
import { postgresMissing, startPostgres } from '../support/postgres.ts';
import { describeWithRedis, startRedis } from '../support/redis.ts';
import {
  answers,
  putKey,
  secretOf,
  startFleetGateway,
  startFleetUpstream,
  write,
  type FleetGateway,
} from './gateways.ts';

const missing = postgresMissing();
const ended: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

const LIMIT = 60;
const BURST = 10;

/** Requests that are admitted of so many at once. */
async function admitted({ ask }: FleetGateway, key: string, requests: number): Promise<number> {
  const statuses = await Promise.all(Array.from({ length: requests }, () => ask(key)));
  expect(statuses.every((status) => status === 200 || status === 429)).toBe(true);
  return statuses.filter((status) => status === 200).length;
}

describeWithRedis('a gateway of a fleet', () => {
  describe.skipIf(missing !== undefined)(`with PostgreSQL${missing === undefined ? '' : ` (${missing})`}`, () => {
    it('that starts while Valkey is away has its share of a limit, and not the whole one', async () => {
      const upstream = await startFleetUpstream();
      ended.push(() => upstream.close());
      const postgres = await startPostgres();
      ended.push(() => postgres.end());
      const redis = await startRedis();
      ended.push(() => redis.stop());
      const start = async (): Promise<FleetGateway> => {
        const gateway = await startFleetGateway({
          url: postgres.url(),
          upstream: upstream.url,
          state: {
            owns: ['keys', 'teams', 'budgets', 'limits'],
            shared: { type: 'redis', url: `\${env:NONE:-${redis.url}}` },
          },
        });
        ended.push(() => gateway.close());
        await answers(gateway);
        return gateway;
      };
      const [a, b] = [await start(), await start()];
      const key = secretOf('k');
      await write(a, putKey('limited', key), {
        op: 'put',
        kind: 'limits',
        id: 'l1',
        doc: { node: 'key:limited', requests: `${LIMIT}/min` },
      });
      await until(async () => (await b.ask(key)) !== 401, 'the key is known');
      await redis.kill();
      const [c, d] = [await start(), await start()];
      for (const one of [c, d]) {
        await until(async () => (await one.ask(key)) !== 401, 'the key is known');
        const from = performance.now();
        // A fourth of the burst, and what comes back meanwhile.
        const count = await admitted(one, key, 20);
        const most = BURST / 3 + (LIMIT / 60 / 3) * ((performance.now() - from) / 1000) + 1;
        expect(count).toBeLessThanOrEqual(most);
      }
    });
  });
});
