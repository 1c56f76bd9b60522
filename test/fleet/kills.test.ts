import { expect, it } from 'vitest';
import { isFull } from '../support/effort.ts';
import { postgresMissing } from '../support/postgres.ts';
import { describeWithRedis } from '../support/redis.ts';
import { KINDS, problemsOf, runKills } from './kills.ts';

const missing = postgresMissing();
/** The short form has one fault of each kind. */
const POINTS = isFull('fleet') ? 200 : KINDS;

describeWithRedis('a fleet', () => {
  it.skipIf(missing !== undefined)(
    `whose gateways, PostgreSQL and Valkey are killed or cut at ${POINTS} moments has the bill of its upstream in its ledger${missing === undefined ? '' : ` (${missing})`}`,
    { timeout: 30 * 60_000, retry: 0 },
    async () => {
      const result = await runKills(POINTS, 4711, (line) => console.log(line));
      expect(problemsOf(result, POINTS)).toEqual([]);
    },
  );
});
