import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AdminReader } from '../money/admin.ts';
import { MAX_OUTPUT, startBilling, type BillingUpstream } from '../money/bill.ts';
import { compare } from '../money/compare.ts';
import { freePort, GatewayProcess } from '../money/gateway.ts';
import { KEY, SMALL_KEY, writeConfigs } from '../money/settings.ts';
import { until } from '../support/gateway.ts';

let folder: string;
let upstream: BillingUpstream;
let gateway: GatewayProcess | undefined;
let ended: (() => void)[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-faults-'));
  upstream = await startBilling(() => 0.5);
  ended = [];
});
afterEach(async () => {
  for (const end of ended) end();
  await gateway?.end('SIGKILL');
  await upstream.close();
  rmSync(folder, { recursive: true });
});

/** The most that a request reserves, in nano-USD. */
const RESERVE = 560_000;
const SMALL_CAP = '0.01 USD';
/** A request waits for no store. A loaded machine holds up some, so the median counts. */
const PROMPT_MS = 1000;

async function start(budgets: 'refuse' | 'allow') {
  const [port, statusPort, adminPort] = [await freePort(), await freePort(), await freePort()];
  const ports = { upstream: upstream.url, port, statusPort, adminPort };
  const configs = writeConfigs(folder, ports, { whenDown: { budgets }, smallCap: SMALL_CAP });
  const process = new GatewayProcess(['--configs', configs], `http://127.0.0.1:${statusPort}`);
  gateway = process;
  await process.start();
  const api = new AdminReader(`http://127.0.0.1:${adminPort}`, join(folder, 'state'));
  await api.rows();
  let model = 0;
  const durations: number[] = [];
  /** Statuses of so many requests, one after the other. */
  const ask = async (count: number, key = KEY): Promise<readonly number[]> => {
    const statuses: number[] = [];
    for (let sent = 0; sent < count; sent += 1) {
      const from = performance.now();
      const reply = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-gateway-api-key': key },
        body: JSON.stringify({
          model: `m-${(model += 1)}`,
          max_tokens: MAX_OUTPUT,
          messages: [{ role: 'user', content: 'reply' }],
        }),
      });
      await reply.arrayBuffer();
      durations.push(performance.now() - from);
      statuses.push(reply.status);
    }
    return statuses;
  };
  return { process, api, ask, median: () => durations.toSorted((a, b) => a - b)[durations.length >> 1]! };
}

/** No file of the process may grow: SQLite's logs, the spool and the snapshots, as on a full disk. */
function fillDisk(pid: number): () => void {
  const limit = (bytes: string): void =>
    void execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`]);
  limit('4096');
  return () => limit('unlimited');
}

/** Holds the locks of both databases nearly all the time: each write of the store waits for seconds. */
function slowDown(): () => void {
  const day = new Date().toISOString().slice(0, 10);
  const others = ['state.db', `ledger/${day}.db`].map((name) => new DatabaseSync(join(folder, 'state', name)));
  const begin = (): void => {
    for (const other of others) if (!other.isTransaction) other.exec('PRAGMA busy_timeout = 200; BEGIN IMMEDIATE');
  };
  begin();
  const timer = setInterval(() => {
    for (const other of others) if (other.isTransaction) other.exec('ROLLBACK');
    setTimeout(() => {
      try {
        begin();
      } catch {
        // The store has the lock: the next round takes it.
      }
    }, 20);
  }, 1500);
  return () => {
    clearInterval(timer);
    for (const other of others) other.close();
  };
}

describe.runIf(process.platform === 'linux')('a store', () => {
  it.each([
    { name: 'whose disk is full refuses', budgets: 'refuse', fault: fillDisk, errors: ['store', 'spool'] },
    { name: 'whose disk is full admits', budgets: 'allow', fault: fillDisk, errors: ['store', 'spool'] },
    { name: 'that is slow refuses', budgets: 'refuse', fault: slowDown, errors: ['store'] },
  ] as const)(
    '$name what its budgets cannot count, holds up no request, and has each charge once when it is back',
    { timeout: 120_000 },
    async ({ budgets, fault, errors }) => {
      const { process, api, ask, median } = await start(budgets);
      let sent = 0;
      const askFor = async (ms: number, most = Infinity): Promise<Set<number>> => {
        const statuses = new Set<number>();
        const before = sent;
        for (const from = performance.now(); performance.now() - from < ms; await sleep(20)) {
          if (sent - before >= most) continue;
          sent += 2;
          for (const status of await ask(2)) statuses.add(status);
        }
        return statuses;
      };
      expect(await ask(1, SMALL_KEY)).toEqual([200]);
      expect(await askFor(3500)).toEqual(new Set([200]));
      const planned = sent;
      // A lease lasts for half a minute at the speed that the process has reported.
      const leased = async (): Promise<number> => (await api.budgets()).reduce((sum, one) => sum + one.leased, 0);
      await until(async () => {
        expect(await askFor(200)).toEqual(new Set([200]));
        return (await leased()) > planned * RESERVE;
      }, 'the lease covers as many requests again');
      await until(
        async () => (await process.metric('gatehouse_ledger_rows_waiting')) === 0,
        'the first rows are written',
      );
      const repair = fault(process.pid);
      ended.push(repair);
      // No faster than before, whatever else the machine does.
      const statuses = await askFor(5000, planned);
      // A request or two of the small budget fit into what is leased of it, and then none.
      const small = await ask(20, SMALL_KEY);
      expect(statuses).toEqual(new Set([200]));
      expect(small.at(-1)).toBe(budgets === 'refuse' ? 429 : 200);
      expect(median()).toBeLessThan(PROMPT_MS);
      for (const what of errors)
        await until(
          async () => (await process.metric('gatehouse_ledger_errors_total', `what="${what}"`)) > 0,
          `an error of the ${what} is counted`,
        );
      await until(async () => {
        await ask(1);
        return (await process.metric('gatehouse_ledger_rows_waiting')) > 0;
      }, 'a row waits');
      repair();
      ended.splice(0);
      await until(async () => (await process.metric('gatehouse_ledger_rows_waiting')) === 0, 'no row waits');
      const rows = await api.rows();
      const found = compare(upstream.charges, rows);
      expect(found).toMatchObject({ problems: [], exactNano: found.billedNano, ledgerNano: found.billedNano });
      expect(await process.metric('gatehouse_ledger_rows_dropped_total')).toBe(0);
      const spent = async (): Promise<number> => (await api.budgets()).reduce((sum, one) => sum + one.spent, 0);
      await until(async () => (await spent()) === found.billedNano, 'the budgets have counted each charge once');
      expect(await ask(1)).toEqual([200]);
    },
  );
});
