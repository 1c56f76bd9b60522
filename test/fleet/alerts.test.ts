import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { isFull } from '../support/effort.ts';
import { until } from '../support/gateway.ts';
import { postgresMissing, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { startRelay } from '../support/relay.ts';
import { startUpstream, type SeenRequest } from '../support/upstream.ts';
import { answers, COST, putKey, startFleetGateway, startFleetUpstream, write, type FleetGateway } from './gateways.ts';

const missing = postgresMissing();
const BUDGETS = isFull('fleet') ? 1000 : 60;
const AT_ONCE = 20;
const ended: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

const keyOf = (number: number): string => `gatehouse_abcdefghijkl_${String(number).padStart(43, 'a')}012345`;

async function start() {
  const upstream = await startFleetUpstream();
  ended.push(() => upstream.close());
  const receiver = await startUpstream((_, res) => void res.writeHead(204).end());
  ended.push(() => receiver.close());
  const way = await startRelay(Number(new URL(receiver.url).port));
  ended.push(() => way.close());
  const postgres = await startPostgres();
  ended.push(() => postgres.end());
  const webhook = {
    id: 'ops',
    url: `\${env:NONE:-http://127.0.0.1:${way.port}}`,
    secret: `\${env:NONE:-whsec_${Buffer.alloc(32, 1).toString('base64')}}`,
    allow_insecure: true,
    kinds: ['budget'],
  };
  const gateways: FleetGateway[] = [];
  for (let at = 0; at < 2; at += 1) {
    const gateway = await startFleetGateway({
      url: postgres.url(),
      upstream: upstream.url,
      server: { alerts: { webhooks: [webhook] } },
    });
    ended.push(() => gateway.close());
    await answers(gateway);
    gateways.push(gateway);
  }
  return { gateways, receiver, way, postgres };
}

/** The keys whose budgets have reached an alert there. */
const raisedOn = ({ logs }: FleetGateway): readonly string[] =>
  logs()
    .split('\n')
    .filter((line) => line.includes('a budget has reached an alert'))
    .map((line) => (JSON.parse(line) as { readonly budget: string }).budget.split(':')[1]!);

/** Both gateways spend of each of the budgets until 80 % of it are spent. Then both see it once more. */
async function cross(gateways: readonly FleetGateway[], from: number, to: number): Promise<void> {
  const numbers = Array.from({ length: to - from }, (_, at) => from + at);
  const askAll = async (some: readonly number[]): Promise<void> => {
    for (let at = 0; at < some.length; at += AT_ONCE)
      await Promise.all(
        some.slice(at, at + AT_ONCE).flatMap((number) => gateways.map(({ ask }) => ask(keyOf(number)))),
      );
  };
  for (let left = numbers; left.length > 0;) {
    await askAll(left);
    // Each reports each second what it spent.
    await sleep(2_000);
    const raised = new Set(gateways.flatMap(raisedOn));
    left = numbers.filter((number) => !raised.has(`k${number}`));
  }
  await askAll(numbers);
}

/** Waits as long as more of them come: on a busy machine hundreds of events take minutes. */
async function untilAll(count: number, found: () => number | Promise<number>): Promise<void> {
  for (;;) {
    const before = await found();
    if (before >= count) return;
    await until(async () => {
      await sleep(1_000);
      return (await found()) > before;
    }, `more than ${before} of ${count} alerts have come`);
  }
}

/** An event that was refused twice is sent again after minutes, in an hour at last: as if they had passed. */
async function makeDue(postgres: TestPostgres): Promise<void> {
  const client = new pg.Client(postgres.url());
  await client.connect();
  await client.query('UPDATE gatehouse.outbox SET due = 0 WHERE due > gatehouse.store_now() + 30000');
  await client.end();
}

const budgetOf = ({ json }: SeenRequest): unknown => (json.data as { readonly budget: string }).budget;
const alertsIn = (seen: readonly SeenRequest[]): readonly SeenRequest[] =>
  seen.filter(({ json }) => json.type === 'budget');

describe.skipIf(missing !== undefined)(`alerts of a fleet${missing === undefined ? '' : ` (${missing})`}`, () => {
  it.runIf(isFull('fleet'))(
    `are sent once where ${BUDGETS} budgets cross 80 % on two gateways, and none is lost with its receiver`,
    { timeout: 20 * 60_000 },
    async () => {
      const { gateways, receiver, way, postgres } = await start();
      for (let from = 0; from < BUDGETS; from += 400) {
        const numbers = Array.from({ length: Math.min(400, BUDGETS - from) }, (_, at) => from + at);
        await write(
          gateways[0]!,
          ...numbers.flatMap((number) => [
            putKey(`k${number}`, keyOf(number)),
            {
              op: 'put',
              kind: 'budgets',
              id: `b${number}`,
              doc: {
                node: `key:k${number}`,
                cap: `${Math.round(2.2 * COST) / 1e9} USD`,
                period: 'total',
                alerts: [80],
              },
            } as const,
          ]),
        );
      }
      await write(gateways[0]!, putKey('last', keyOf(BUDGETS)));
      for (const { ask } of gateways)
        await until(async () => (await ask(keyOf(BUDGETS))) !== 401, 'the keys are known');
      const half = BUDGETS / 2;
      await cross(gateways, 0, half);
      const names = (): Set<unknown> => new Set(alertsIn(receiver.seen).map(budgetOf));
      await untilAll(half, () => names().size);
      way.set('cut');
      await cross(gateways, half, BUDGETS);
      way.set('pass');
      await untilAll(BUDGETS, async () => {
        await makeDue(postgres);
        return names().size;
      });
      // A connection that is cut before the answer makes the same event come again: its id tells.
      const ids = new Set(alertsIn(receiver.seen).map(({ json }) => json.id));
      expect(ids.size).toBe(BUDGETS);
      expect(gateways.flatMap(raisedOn).length).toBe(BUDGETS);
    },
  );
});
