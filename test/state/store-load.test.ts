import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Pool } from 'undici';
import { describe, expect, it } from 'vitest';
import type { StateStore } from '../../src/core/ports/store.ts';
import { json, openaiReply, type Script } from '../support/upstream.ts';
import { KEY } from '../support/gateway.ts';
import { startLedger, usageOf } from './ledger.testkit.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const answers: Script = (_, res) => json(res, openaiReply('ok', usageOf(100, 10)));
const NANO = 200_000;
const RELOADS = 12;
const CONNECTIONS = 32;

/**
 * Sends requests over 32 connections, and returns their statuses.
 * @param isEnough called with the number of those that were sent
 * @param keyOf the key of a request
 */
async function load(
  url: string,
  isEnough: (sent: number) => boolean,
  keyOf: (number: number) => string,
): Promise<Map<number, number>> {
  const pool = new Pool(url, { connections: CONNECTIONS });
  const statuses = new Map<number, number>();
  const body = JSON.stringify({ model: '@openai/m', max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] });
  let next = 0;
  const client = async (): Promise<void> => {
    while (!isEnough(next)) {
      const headers = { 'content-type': 'application/json', 'x-gateway-api-key': keyOf((next += 1)) };
      const reply = await pool.request({ path: '/v1/chat/completions', method: 'POST', headers, body });
      await reply.body.dump();
      statuses.set(reply.statusCode, (statuses.get(reply.statusCode) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
  await pool.close();
  return statuses;
}

const atMost = (count: number) => (sent: number) => sent >= count;

describe('a gateway under load, with a state store', () => {
  it('is reloaded without an error, and counts each request once', { timeout: 180_000 }, async () => {
    const budgets = [{ cap: '100 USD', period: 'total' }];
    const ledger = await startLedger(answers, {
      keys: { keys: [{ id: 'test', key: `\${env:NONE:-${KEY}}`, budgets }] },
    });
    const { gateway, configs } = ledger;
    let isEnough = false;
    const running = load(
      gateway.data.url,
      () => isEnough,
      () => KEY,
    );
    const file = join(configs, 'keys.yaml');
    const text = readFileSync(file, 'utf8');
    // The cap, and with it the budget's limits, change with each reload.
    const outcomes: string[] = [];
    for (; outcomes.length < RELOADS; await sleep(100)) {
      writeFileSync(file, text.replace('100 USD', `${200 + outcomes.length} USD`));
      outcomes.push((await gateway.reload()).outcome);
    }
    isEnough = true;
    const statuses = await running;
    // `unchanged`: the watch of the files has already reloaded the change.
    expect(outcomes.filter((outcome) => outcome !== 'changed' && outcome !== 'unchanged')).toEqual([]);
    const sent = statuses.get(200) ?? 0;
    expect([...statuses.keys()]).toEqual([200]);
    const rows = await ledger.rows(sent);
    expect([rows.length, rows.reduce((sum, { nano }) => sum + nano, 0)]).toEqual([sent, sent * NANO]);
    const counters = async () => {
      for await (const [counter] of gateway.state!.store!.counters.all()) return counter;
      return undefined;
    };
    await expect.poll(async () => (await counters())?.spent, { timeout: 60_000 }).toBe(sent * NANO);
    const { text: metrics } = await gateway.metrics.scrape(undefined);
    expect(metrics).toContain('\ngatehouse_ledger_rows_waiting 0');
  });

  // `npm run test:wrong-keys` sends a million.
  const WRONG = Number(process.env['WRONG_KEYS'] ?? 10_000);

  it(`asks its store for none of ${WRONG} wrong keys, and keeps nothing of them`, { timeout: 1_800_000 }, async () => {
    const { gateway } = await startLedger(answers, {});
    const url = gateway.data.url;
    const wrong = (from: number) => (number: number) =>
      `gatehouse_${String(from + number).padStart(12, 'k')}_${'x'.repeat(43)}_012345`;
    expect(await load(url, atMost(2000), wrong(0))).toEqual(new Map([[401, 2000]]));
    const calls = countCalls(gateway.state!.store!);
    const before = await heapBytes();
    expect(await load(url, atMost(WRONG), wrong(2000))).toEqual(new Map([[401, WRONG]]));
    // Ten bytes of each would be more than this with the million.
    expect((await heapBytes()) - before).toBeLessThan(12e6);
    // What the process asks by itself: each five seconds, and each second where it has leases.
    expect(calls()).toBeLessThan(WRONG / 10);
    expect(await load(url, atMost(10), () => KEY)).toEqual(new Map([[200, 10]]));
  });
});

/** Counts all calls of a store from now on. */
function countCalls(store: StateStore): () => number {
  let count = 0;
  for (const port of [store.entities, store.counters, store.ledger, store.audit, store.idempotency]) {
    const methods = port as unknown as Record<string, (...args: unknown[]) => unknown>;
    for (const [name, method] of Object.entries(methods))
      methods[name] = (...args) => {
        count += 1;
        return method(...args);
      };
  }
  return () => count;
}

async function heapBytes(): Promise<number> {
  for (let times = 0; times < 3; times += 1) {
    collectGarbage();
    await sleep(50);
  }
  return process.memoryUsage().heapUsed;
}
