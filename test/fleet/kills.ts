import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CounterState } from '../../src/core/ports/counters.ts';
import { ACTIONS, startBilling } from '../money/bill.ts';
import { Client } from '../money/client.ts';
import { compare, type Comparison } from '../money/compare.ts';
import type { GatewayProcess } from '../money/gateway.ts';
import { randomOf } from '../money/random.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { startRedis, type RedisServer } from '../support/redis.ts';
import { startRelay, type Relay } from '../support/relay.ts';
import { newBareGateway, readFleetStore, settle, type BareGateway } from './bare-gateways.ts';

const GATEWAYS = 2;
const CLIENTS = 3;

interface Parts {
  readonly gateways: readonly GatewayProcess[];
  readonly postgres: TestPostgres;
  readonly redis: RedisServer;
  /** Before PostgreSQL. */
  readonly relay: Relay;
  readonly random: () => number;
}

/** What fails for a time of at most a second, at a random moment. */
const FAULTS: Readonly<Record<string, (parts: Parts) => Promise<void>>> = {
  async gateway({ gateways, random }) {
    const gateway = gateways[Math.floor(random() * gateways.length)]!;
    await gateway.end('SIGKILL');
    await gateway.start();
  },
  async postgres({ postgres, random }) {
    await postgres.kill();
    await sleep(random() * 1000);
    await postgres.start();
  },
  async valkey({ redis, random }) {
    await redis.kill();
    await sleep(random() * 1000);
    await redis.restart();
  },
  cut: withRelay('cut'),
  hang: withRelay('hang'),
  deaf: withRelay('deaf'),
  slow: withRelay('pass', 200),
};

export const KINDS = Object.keys(FAULTS).length;

function withRelay(...mode: Parameters<Relay['set']>): (parts: Parts) => Promise<void> {
  return async ({ relay, random }) => {
    relay.set(...mode);
    await sleep(random() * 1000);
    relay.set('pass');
  };
}

export interface KillsResult extends Comparison {
  readonly faults: Readonly<Record<string, number>>;
  readonly requests: number;
  readonly statuses: ReadonlySet<number>;
  /** Rows of the ledger that have the name of another one. */
  readonly twice: number;
  /** The sums of the ledger, and the budget that counts everything. */
  readonly summedNano: number;
  readonly counter: CounterState | undefined;
  /** Spools that no gateway has replayed. */
  readonly spools: number;
}

/** Two gateways on one PostgreSQL and one Valkey while each of them is killed and cut, beside an upstream that bills. */
export async function runKills(
  points: number,
  seed: number,
  say: (line: string) => void = () => {},
): Promise<KillsResult> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-kills-'));
  const random = randomOf(seed);
  const ending: (() => Promise<unknown>)[] = [];
  try {
    const upstream = await startBilling(randomOf(seed + 1));
    ending.push(() => upstream.close());
    const postgres = await startPostgres();
    ending.push(() => postgres.end());
    const relay = await startRelay(postgres.port);
    ending.push(() => relay.close());
    const redis = await startRedis();
    ending.push(() => redis.stop());
    const fleet: BareGateway[] = [];
    for (let at = 0; at < GATEWAYS; at += 1) {
      const own = await newBareGateway(join(folder, String(at)), {
        upstream: upstream.url,
        database: postgres.url(relay.port),
        state: { shared: { type: 'redis', url: `\${env:NONE:-${redis.url}}` } },
      });
      ending.push(() => own.gateway.end('SIGKILL'));
      await own.gateway.start();
      fleet.push(own);
    }
    const gateways = fleet.map(({ gateway }) => gateway);
    let models = 0;
    const clients = fleet.flatMap(({ port }, at) =>
      Array.from(
        { length: CLIENTS },
        (_, client) =>
          new Client({
            url: `http://127.0.0.1:${port}`,
            random: randomOf(seed + 10 + at * CLIENTS + client),
            next: () => (models += 1),
            actions: ACTIONS,
            leaves: true,
            pauseMs: 100,
          }),
      ),
    );
    const running = Promise.all(clients.map((client) => client.run()));
    const faults: Record<string, number> = {};
    const names = Object.keys(FAULTS);
    for (let point = 0; point < points; point += 1) {
      await sleep(100 + random() * 700);
      // The first ones are one of each.
      const name = names[point < names.length ? point : Math.floor(random() * names.length)]!;
      await FAULTS[name]!({ gateways, postgres, redis, relay, random });
      faults[name] = (faults[name] ?? 0) + 1;
      if ((point + 1) % 20 === 0) say(`${point + 1} faults: ${JSON.stringify(faults)}`);
    }
    await sleep(1000);
    for (const client of clients) client.stop();
    await running;
    const spools = await settle(fleet);
    const { rows, summedNano, counter } = await readFleetStore(postgres);
    const requests = clients.reduce((sum, { answered }) => sum + answered, 0);
    return {
      ...compare(upstream.charges, rows),
      faults,
      requests,
      statuses: new Set(clients.flatMap(({ statuses }) => [...statuses])),
      twice: rows.length - new Set(rows.map(({ req, att, kind }) => `${req} ${att} ${kind}`)).size,
      summedNano,
      counter,
      spools,
    };
  } finally {
    for (const end of ending.toReversed()) await end();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What is wrong with the result, or has not been shown. */
export function problemsOf(result: KillsResult, points: number): readonly string[] {
  const problems = [...result.problems];
  const expectThat = (holds: boolean, problem: string): void => void (holds || problems.push(problem));
  const { faults, requests, statuses, twice, summedNano, counter, spools, ledgerNano, exact, charges, lost } = result;
  expectThat(twice === 0, `${twice} rows are there twice`);
  expectThat(summedNano === ledgerNano, `the sums are ${summedNano}, the rows ${ledgerNano}`);
  expectThat(spools === 0, `${spools} spools are left`);
  expectThat(!statuses.has(401), 'a key was unknown for a time');
  expectThat(
    counter?.spent === ledgerNano && counter.leased + counter.unreconciled === 0,
    `the budget is ${JSON.stringify(counter)}, the ledger ${ledgerNano}`,
  );
  expectThat(requests > 5 * points, `${requests} requests were answered`);
  expectThat(exact > charges / 4, `${exact} of ${charges} charges are exact`);
  expectThat((faults['gateway'] ?? 0) < 5 || lost > 0, 'no request was lost with its process');
  for (const name of Object.keys(FAULTS)) expectThat(name in faults || points < KINDS, `no fault was "${name}"`);
  return problems;
}
