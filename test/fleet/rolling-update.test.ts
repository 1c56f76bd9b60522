import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { startBilling } from '../money/bill.ts';
import { compare } from '../money/compare.ts';
import { randomOf } from '../money/random.ts';
import { FREE_KEY } from '../money/settings.ts';
import { isFull } from '../support/effort.ts';
import { until } from '../support/gateway.ts';
import { postgresMissing, startPostgres } from '../support/postgres.ts';
import { NEXT, newBareGateway, readFleetStore, settle, type BareGateway } from './bare-gateways.ts';
import { nginxMissing, startNginx } from './nginx.ts';

const missing = postgresMissing() ?? nginxMissing();
const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

/** Clients that send one request after the other on connections that they keep, until they are stopped. */
function load(url: string, clients: number) {
  const outcomes = new Map<number | string, number>();
  let models = 0;
  const run = { isOver: false };
  const send = (agent: Agent): Promise<number | string> =>
    new Promise((resolve) => {
      const fail = (error: NodeJS.ErrnoException): void => resolve(error.code ?? error.message);
      const body = JSON.stringify({
        model: `m-${(models += 1)}`,
        max_tokens: 50,
        messages: [{ role: 'user', content: 'reply' }],
      });
      const headers = {
        'content-type': 'application/json',
        'x-gateway-api-key': FREE_KEY,
        'content-length': body.length,
      };
      const sent = request(`${url}/v1/chat/completions`, { method: 'POST', agent, headers }, (reply) => {
        reply
          .resume()
          .on('end', () => resolve(reply.statusCode!))
          .on('error', fail);
      });
      sent.on('error', fail).end(body);
    });
  const over = Promise.all(
    Array.from({ length: clients }, async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      while (!run.isOver) {
        const outcome = await send(agent);
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        await sleep(20);
      }
      agent.destroy();
    }),
  );
  return {
    outcomes,
    answered: (): number => outcomes.get(200) ?? 0,
    async stop() {
      run.isOver = true;
      await over;
    },
  };
}

/** Three gateways behind nginx, under load. */
async function start(isSource: boolean) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-rolling-'));
  ended.push(() => rmSync(folder, { recursive: true, force: true }));
  const upstream = await startBilling(randomOf(1));
  ended.push(() => upstream.close());
  const postgres = await startPostgres();
  ended.push(() => postgres.end());
  const fleet: BareGateway[] = [];
  for (let at = 0; at < 3; at += 1) {
    const one = await newBareGateway(join(folder, String(at)), {
      upstream: upstream.url,
      database: postgres.url(),
      isSource,
      server: { drain: { delay: '1s', timeout: '60s' } },
    });
    ended.push(() => one.gateway.end('SIGKILL'));
    fleet.push(one);
  }
  await Promise.all(fleet.map(({ gateway }) => gateway.start()));
  const nginx = await startNginx(fleet.map(({ port }) => port));
  ended.push(() => nginx.end());
  const clients = load(nginx.url, 8);
  await until(() => clients.answered() > 100, 'the load has begun');
  return { upstream, postgres, fleet, clients };
}

describe.skipIf(missing !== undefined)(
  `three gateways behind nginx${missing === undefined ? '' : ` (${missing})`}`,
  { timeout: 15 * 60_000 },
  () => {
    it.runIf(isFull('fleet'))('that are restarted one after the other fail no request, and lose no row', async () => {
      const { upstream, postgres, fleet, clients } = await start(false);
      for (const { gateway } of fleet) {
        await gateway.end('SIGTERM');
        await gateway.start();
      }
      await clients.stop();
      expect([...clients.outcomes.keys()]).toEqual([200]);
      expect(await settle(fleet)).toBe(0);
      const { rows, summedNano } = await readFleetStore(postgres);
      const found = compare(upstream.charges, rows);
      expect(found.problems).toEqual([]);
      expect([found.rows, found.exact]).toEqual([clients.answered(), clients.answered()]);
      expect(summedNano).toBe(found.billedNano);
    });

    it.runIf(isFull('fleet'))(
      'serve side by side with the next release, which replaces them one after the other',
      async () => {
        const { upstream, postgres, fleet, clients } = await start(true);
        for (const { gateway } of fleet) {
          await gateway.end('SIGTERM');
          await gateway.start(NEXT);
          const before = clients.answered();
          await until(() => clients.answered() > before + 50, 'both releases serve');
        }
        await clients.stop();
        expect([...clients.outcomes.keys()]).toEqual([200]);
        expect(await settle(fleet, NEXT)).toBe(0);
        const client = new pg.Client(postgres.url());
        await client.connect();
        const { rows: columns } = await client.query(
          "SELECT 1 FROM information_schema.columns WHERE column_name = 'next'",
        );
        const { rows } = await client.query<{ count: string; nano: string }>(
          'SELECT count(*), sum(nano) AS nano FROM fleet.ledger',
        );
        await client.end();
        expect(columns.length).toBeGreaterThan(0);
        const billed = [...upstream.charges.values()].flat().reduce((sum, { nano }) => sum + nano, 0);
        expect(rows).toEqual([{ count: String(clients.answered()), nano: String(billed) }]);
      },
    );
  },
);
