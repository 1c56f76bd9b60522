/**
 * `node test/fleet/append-rate.ts`: rows a second that the ledger takes on PostgreSQL and on SQLite, in batches of 500, in turns. It fails
 * below 0.9 of SQLite's, each appending by itself; the server is on this machine, so both share its processors.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { NOON, rowOf } from '../../src/addons/budgets/store/contract/opened-store.testkit.ts';
import { storeRules } from '../../src/addons/budgets/store/rules/store-rules.ts';
import { openSqliteStore } from '../../src/addons/budgets/store/sqlite/state-store.ts';
import { readAddress } from '../../src/addons/postgres/settings/address.ts';
import { openPostgresStore } from '../../src/addons/postgres/store/state-store.ts';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import type { Ledger, LedgerRow } from '../../src/core/ports/ledger.ts';
import { startPostgres } from '../support/postgres.ts';

const BATCH = 500;
const ROUNDS = 6;
const LEAST = 0.9;
const ROWS = 15_000;

const rowsFrom = (first: number): LedgerRow[] =>
  Array.from({ length: BATCH }, (_, index) => {
    const number = first + index;
    return rowOf(number, {
      at: NOON + (number % 3_600_000),
      key: `key-${number % 40}`,
      team: `team-${number % 8}`,
      organization: 'acme',
      config: 'production',
      asked: '@vertex/gemini-2.5-flash',
      model: `gemini-${number % 5}`,
      input: number % 4_000,
      output: number % 900,
      nano: 1 + ((number * 7919) % 800_000),
      held: 560_000,
    });
  });

async function rate(ledger: Ledger, first: number): Promise<number> {
  const batches = Array.from({ length: ROWS / BATCH }, (_, index) => rowsFrom(first + index * BATCH));
  const from = performance.now();
  for (const batch of batches) await ledger.append(batch);
  return (1000 * ROWS) / (performance.now() - from);
}

const server = await startPostgres();
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-appends-'));
const address = readAddress(server.url());
if (typeof address === 'string') throw new Error(address);
const options = {
  ca: undefined,
  schema: 'rate',
  connections: 4,
  listen: false,
  keys: '',
  rules: storeRules,
  clock: systemClock,
};
const postgres = await openPostgresStore({ pg, address, ...options });
const owner = { pid: process.pid, boot: 'a'.repeat(32), host: 'bench' };
const sqlite = await openSqliteStore({ folder: join(folder, 'state'), owner, keys: '' }, systemClock);
try {
  const ratios: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const [onPostgres, onSqlite] = [await rate(postgres.ledger, round * ROWS), await rate(sqlite.ledger, round * ROWS)];
    // The first round makes tables and warms the code.
    if (round === 0) continue;
    ratios.push(onPostgres / onSqlite);
    console.log(
      `PostgreSQL ${Math.round(onPostgres)} rows/s, SQLite ${Math.round(onSqlite)} rows/s: ratio ${ratios.at(-1)!.toFixed(2)}`,
    );
  }
  const median = ratios.toSorted((one, other) => one - other)[ratios.length >> 1]!;
  console.log(`rows appended to PostgreSQL: median ${median.toFixed(2)} x SQLite's, at least ${LEAST}`);
  if (median < LEAST) process.exitCode = 1;
} finally {
  await Promise.all([postgres.close(), sqlite.close()]);
  await server.end();
  rmSync(folder, { recursive: true });
}
