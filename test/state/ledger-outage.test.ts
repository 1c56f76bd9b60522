import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { json, openaiReply, type Script } from '../support/upstream.ts';
import { startLedger, usageOf, type LedgerGateway } from './ledger.testkit.ts';

const answers: Script = (_, res) => json(res, openaiReply('ok', usageOf(100, 10)));

const ask = async ({ post }: LedgerGateway): Promise<number> => {
  const reply = await post();
  await reply.text();
  return reply.status;
};

async function metric({ gateway }: LedgerGateway, name: string): Promise<number> {
  const { text } = await gateway.metrics.scrape(undefined);
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1]);
}

it('Rows wait while the ledger cannot be written, and each is in it once afterwards', async () => {
  const ledger = await startLedger(answers);
  expect(await ask(ledger)).toBe(200);
  const [first] = await ledger.rows();
  const day = new Date(first!.at).toISOString().slice(0, 10);
  const other = new DatabaseSync(join(ledger.folder, 'ledger', `${day}.db`));
  other.exec('BEGIN IMMEDIATE');
  for (let sent = 0; sent < 5; sent += 1) expect(await ask(ledger)).toBe(200);
  // The store gives up waiting for the lock after two seconds.
  for (const from = Date.now(); (await metric(ledger, 'gatehouse_ledger_errors_total')) === 0; await sleep(50))
    if (Date.now() - from > 10_000) throw new Error('the ledger was written in spite of the lock');
  expect(await metric(ledger, 'gatehouse_ledger_rows_waiting')).toBe(5);
  expect(await metric(ledger, 'gatehouse_spool_bytes')).toBeGreaterThan(1000);
  other.exec('ROLLBACK');
  other.close();
  expect(await ledger.rows(6)).toHaveLength(6);
  expect(await metric(ledger, 'gatehouse_ledger_rows_waiting')).toBe(0);
  await sleep(1500);
  expect(await ledger.rows(6)).toHaveLength(6);
  expect(await metric(ledger, 'gatehouse_ledger_rows_written_total')).toBe(6);
}, 30_000);

it('Requests that a gateway served before its store could be opened are in the ledger when it can', async () => {
  const ledger = await startLedger(answers, {
    prepare(folder) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'state.db'), 'no database, but long enough to be read as one'.repeat(50));
    },
  });
  for (let sent = 0; sent < 3; sent += 1) expect(await ask(ledger)).toBe(200);
  expect(ledger.gateway.state?.store).toBeUndefined();
  rmSync(join(ledger.folder, 'state.db'));
  for (const from = Date.now(); !ledger.gateway.state?.store; await sleep(50))
    if (Date.now() - from > 15_000) throw new Error('the store does not open');
  expect(await ledger.rows(3)).toHaveLength(3);
}, 30_000);

it('A gateway that ends while its ledger cannot be written leaves its rows to the next one', async () => {
  const ledger = await startLedger(answers);
  expect(await ask(ledger)).toBe(200);
  const [first] = await ledger.rows();
  const day = new Date(first!.at).toISOString().slice(0, 10);
  const other = new DatabaseSync(join(ledger.folder, 'ledger', `${day}.db`));
  other.exec('BEGIN IMMEDIATE');
  for (let sent = 0; sent < 2; sent += 1) await ask(ledger);
  await ledger.gateway.close();
  other.exec('ROLLBACK');
  other.close();
  const next = await ledger.again();
  expect(await next.rows(3)).toHaveLength(3);
}, 30_000);
