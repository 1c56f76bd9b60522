/**
 * `npm run bench -- money`: what the money of a request costs in all threads of its process, and the rows that the ledger on SQLite takes in
 * a second. One request a turn of the event loop, which is the dearest: those of one turn share a write of the spool.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { anyLedgerRecord } from '../../src/addons/budgets/ledger/ledger.testkit.ts';
import { NO_SUMS, rowOf as ledgerRowOf } from '../../src/addons/budgets/ledger/ledger-rows.ts';
import { RequestLedger } from '../../src/addons/budgets/ledger/request-ledger.ts';
import { Account } from '../../src/addons/budgets/limits/accounts.ts';
import { budgetOf } from '../../src/addons/budgets/limits/budgets.testkit.ts';
import { Reservations } from '../../src/addons/budgets/limits/reservations.ts';
import { uuidv7 } from '../../src/core/kernel/ids.ts';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import { newBoot } from '../../src/core/ports/boot.ts';
import { rowOf } from '../../src/addons/budgets/store/contract/opened-store.testkit.ts';
import type { Ledger, LedgerRow } from '../../src/core/ports/ledger.ts';
import { openSqliteStore } from '../../src/addons/budgets/store/sqlite/state-store.ts';
import { spreadOf, type Spread } from './figures.ts';
import type { MoneyResults } from './money-figures.ts';

const PATH = 5;
const WARM = 30_000;
const MEASURED = 20_000;
const ROUNDS = 7;
const APPENDED = 50_000;
const BATCH = 500;

const RESERVED = { usd: 22_000_000, tokens: 900 };
const COST = { usd: 1_234_567, tokens: 500 };
const RECORD = anyLedgerRecord(COST.usd, Date.now());
const PAYER = { requestId: '', organization: 'acme', user: 'ann@example.com', priceVersion: '2026-11-22+0123abcd' };

/** As a request that has left has it. */
function rowOfSend(req: string): LedgerRow {
  const row = {
    req,
    requestId: PAYER.requestId,
    att: 0,
    at: Date.now(),
    key: 'search-production',
    user: PAYER.user,
    team: 'search',
    organization: PAYER.organization,
    config: 'production',
    asked: '@vertex/gemini-2.5-flash',
    model: 'gemini-2.5-flash',
    kind: 'expired',
    src: 'lost',
    status: 'lost',
    tier: '',
    geo: 'europe-west1',
    priceVersion: PAYER.priceVersion,
    labels: '',
    sums: NO_SUMS,
    nano: RESERVED.usd,
    held: RESERVED.usd,
    ms: 0,
    firstMs: undefined,
  } as const;
  return ledgerRowOf(row, row, row);
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A request in two turns: it leaves, and it ends. */
type Request = (hold: number) => Promise<void>;

async function emptyRequest(): Promise<void> {
  uuidv7(Date.now());
  await turn();
  await turn();
}

function requestWith(ledger: RequestLedger | undefined): Request {
  const reservations = new Reservations();
  const accounts = Array.from(
    { length: PATH },
    (_, index) => new Account(budgetOf(9e15, { ref: `team:t${index}` }), { start: 0, end: Infinity }, 9e15),
  );
  return async (hold) => {
    const req = uuidv7(Date.now());
    reservations.reserve({ hold, accounts, amounts: RESERVED, until: Infinity });
    ledger?.send({ hold, accounts, amounts: RESERVED, row: rowOfSend(req), until: Infinity });
    await (ledger?.written() ?? turn());
    reservations.settle(hold, COST);
    ledger?.settle(hold, COST);
    ledger?.add(RECORD, { req, ...PAYER });
    await turn();
  };
}

interface Load {
  readonly count: number;
  readonly together: number;
}

async function cpuOf(request: Request, from: number, { count, together }: Load): Promise<number> {
  const before = process.cpuUsage();
  for (let hold = from; hold < from + count; hold += together)
    await Promise.all(Array.from({ length: together }, (_, index) => request(hold + index)));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

/** µs of a request beyond its turns. A round measures both, one after the other. @param together requests in one turn */
async function measure(request: Request, together = 1): Promise<Spread> {
  await cpuOf(emptyRequest, 0, { count: WARM, together });
  await cpuOf(request, 1, { count: WARM, together });
  const rounds: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const load = { count: MEASURED, together };
    const empty = await cpuOf(emptyRequest, 0, load);
    // Each hold has a number of its own.
    rounds.push((await cpuOf(request, 2 * WARM * round, load)) - empty);
  }
  return spreadOf(rounds);
}

async function onFolder<Result>(task: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-money-'));
  try {
    return await task(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureLedger(
  ledger: Pick<Ledger, 'append'>,
  folder: string | undefined,
  together = 1,
): Promise<Spread> {
  const own = new RequestLedger({
    clock: systemClock,
    boot: newBoot('single', systemClock),
    ledger,
    folder,
    endOfTurn: (task) => void setImmediate(task),
    reports: {
      waiting() {},
      written() {},
      dropped: (reason) => fail(`rows were dropped: ${reason}`),
      failed: (what, error) => fail(`${what}: ${error.message}`),
      recovered() {},
      spoolBytes() {},
      expired() {},
    },
  });
  const found = await measure(requestWith(own), together);
  await own.close();
  return found;
}

function fail(message: string): never {
  throw new Error(message);
}

const openStore = (folder: string) =>
  openSqliteStore(
    { folder: join(folder, 'state'), owner: { pid: process.pid, boot: 'a'.repeat(32), host: 'bench' }, keys: '' },
    systemClock,
  );

async function measureRows(): Promise<Spread> {
  const rounds: number[] = [];
  for (let round = 0; round < 3; round += 1)
    rounds.push(
      await onFolder(async (folder) => {
        const { ledger, close } = await openStore(folder);
        const from = performance.now();
        for (let number = 0; number < APPENDED; number += BATCH)
          await ledger.append(
            Array.from({ length: BATCH }, (_, index) =>
              rowOf(number + index, { nano: 7, key: `key-${index % 20}`, model: `model-${index % 7}` }),
            ),
          );
        const seconds = (performance.now() - from) / 1000;
        await close();
        return APPENDED / seconds;
      }),
    );
  return spreadOf(rounds);
}

export async function measureMoney(): Promise<Pick<MoneyResults, 'us' | 'rowsPerSecond'>> {
  const nowhere: Pick<Ledger, 'append'> = { append: async (rows) => rows.length };
  const onSqlite = (together: number): Promise<Spread> =>
    onFolder(async (folder) => {
      const store = await openStore(folder);
      const found = await measureLedger(store.ledger, folder, together);
      await store.close();
      return found;
    });
  const us = {
    purse: await measure(requestWith(undefined)),
    rows: await measureLedger(nowhere, undefined),
    spool: await onFolder((folder) => measureLedger(nowhere, folder)),
    store: await onSqlite(1),
    four: await onSqlite(4),
  };
  return { us, rowsPerSecond: await measureRows() };
}
