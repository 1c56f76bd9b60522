import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../../plugin/testing/index.ts';
import { NOON, rowOf } from '../store/contract/opened-store.testkit.ts';
import { StateFailure } from '../../../core/ports/failures.ts';
import type { LedgerRow, Ledger } from '../../../core/ports/ledger.ts';
import { sameThreadStore } from '../store/sqlite/same-thread-store.testkit.ts';
import { readSpool, spoolsIn } from '../store/spool/read-spool.ts';
import { LOCK_FILE } from '../store/spool/spool-lock.ts';
import { anyLedgerRecord } from './ledger.testkit.ts';
import { RequestLedger, type RequestLedgerOptions } from './request-ledger.ts';
import type { LedgerReports } from './reports.ts';

const boot = { id: 'a'.repeat(32), host: 'test', role: 'single', version: '0', configHash: '', startedAt: 0 } as const;

let folder: string;
let clock: FakeClock;
let events: string[];
let turn: (() => void)[];
/** Runs when no row waits for the store. */
let onWritten: () => void;
let store: { failing: StateFailure | undefined; readonly ledger: Ledger };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-ledger-'));
  clock = createFakeClock(NOON);
  events = [];
  turn = [];
  onWritten = () => {};
  store = { failing: undefined, ledger: sameThreadStore(clock).ledger };
});
afterEach(() => rmSync(folder, { recursive: true }));

const reports: LedgerReports = {
  waiting(rows) {
    if (rows === 0) onWritten();
  },
  written: (rows) => void events.push(`written ${rows}`),
  dropped: (reason, rows) => void events.push(`dropped ${reason} ${rows}`),
  failed: (what, _, isFirst) => void events.push(`failed ${what}${isFirst ? ', the first' : ''}`),
  recovered: (what) => void events.push(`recovered ${what}`),
  spoolBytes() {},
  expired: (requests) => void events.push(`expired ${requests}`),
};

const ledgerWith = (more: Partial<RequestLedgerOptions> = {}): RequestLedger =>
  new RequestLedger({
    clock,
    boot,
    reports,
    ledger: {
      append: (rows) => (store.failing ? Promise.reject(store.failing) : store.ledger.append(rows)),
    },
    endOfTurn: (task) => void turn.push(task),
    ...more,
  });

/** A request that has left is written at the end of its turn, one that has ended within 50 ms. */
async function endTurn(): Promise<void> {
  turn.splice(0).forEach((task) => task());
  await clock.advance(50);
}

const reqOf = (number: number): string => rowOf(number).req;

/** A request that ended and cost so much. */
function ended(ledger: RequestLedger, number: number, nano = 7): void {
  ledger.add(anyLedgerRecord(nano), {
    req: reqOf(number),
    organization: undefined,
    user: undefined,
    requestId: '',
    priceVersion: '2026-11-20',
  });
}

function sent(ledger: RequestLedger, number: number, until = clock.now() + 1000): void {
  const row = rowOf(number, { kind: 'expired', src: 'lost', nano: 100, held: 100, at: NOON });
  ledger.send({ hold: number, accounts: [], amounts: { usd: 100, tokens: 0 }, row, until });
}

async function rows(): Promise<LedgerRow[]> {
  const found: LedgerRow[] = [];
  for await (const piece of store.ledger.rows({ from: 0, to: NOON * 2 })) found.push(...piece);
  return found;
}
const sums = async () => (await rows()).map(({ kind, nano }) => `${kind} ${nano}`);

const down = new StateFailure('unavailable', 'no answer');

/** The files of spools. The lock of a process stays until it ends. */
const partsIn = (folder: string): readonly string[] =>
  spoolsIn(folder)
    .flatMap((spool) => readdirSync(spool))
    .filter((name) => name !== LOCK_FILE);

describe('the ledger of the requests of a process', () => {
  it('writes rows behind, several at once', async () => {
    const ledger = ledgerWith();
    for (let number = 0; number < 3; number += 1) ended(ledger, number);
    expect(events).toEqual([]);
    await endTurn();
    await clock.advance(200);
    expect(events).toEqual(['written 3']);
  });

  it('notes what has ended with the next request that leaves, else within 50 ms', async () => {
    const ledger = ledgerWith({ folder });
    store.failing = down;
    const noted = async (): Promise<readonly [number, number]> => {
      let found = 0;
      const [spool = ''] = spoolsIn(folder);
      const { open } = await readSpool(spool, async (some) => void (found += some.length));
      return [open.length, found];
    };
    sent(ledger, 1);
    turn.splice(0).forEach((task) => task());
    ended(ledger, 1);
    ledger.settle(1, { usd: 7, tokens: 0 });
    expect([turn.length, await noted()]).toEqual([0, [1, 0]]);
    sent(ledger, 2);
    turn.splice(0).forEach((task) => task());
    expect(await noted()).toEqual([1, 1]);
    ended(ledger, 2);
    ledger.settle(2, { usd: 7, tokens: 0 });
    await clock.advance(49);
    expect(await noted()).toEqual([1, 1]);
    await clock.advance(1);
    expect(await noted()).toEqual([0, 2]);
  });

  it.each([
    ['does not answer for a second', 'unavailable', 1100],
    ['does not answer for an hour', 'unavailable', 3_600_000],
    ['accepts no writes', 'read_only', 5000],
    ['is damaged', 'damaged', 5000],
  ] as const)('keeps rows while the store %s, and writes each once when it does', async (_, code, ms) => {
    const ledger = ledgerWith();
    store.failing = new StateFailure(code, 'no answer');
    ended(ledger, 1);
    await endTurn();
    await clock.advance(ms);
    ended(ledger, 2);
    await endTurn();
    store.failing = undefined;
    await clock.advance(2000);
    expect(events.filter((event) => !event.endsWith('store'))).toEqual(['failed store, the first', 'written 2']);
    expect(events.at(-1)).toBe('recovered store');
    expect(await sums()).toEqual(['try 7', 'try 7']);
  });

  it('drops a row that the store refuses, and not those beside it', async () => {
    const ledger = ledgerWith();
    await store.ledger.dropBefore('2026-11-22');
    ended(ledger, 1);
    sent(ledger, 2, 0);
    ledger.add(anyLedgerRecord(5, NOON - 86_400_000), {
      req: reqOf(3),
      organization: undefined,
      user: undefined,
      requestId: '',
      priceVersion: '',
    });
    await endTurn();
    await clock.advance(200);
    expect(events).toEqual(['written 1', 'dropped invalid 1']);
  });

  it('drops rows and counts them when 100,000 wait and no disk has them', async () => {
    const ledger = ledgerWith();
    store.failing = down;
    for (let number = 0; number < 100_003; number += 1) ended(ledger, number);
    await endTurn();
    expect(ledger.isFull).toBe(true);
    expect(events.filter((event) => event.startsWith('dropped'))).toEqual([
      'dropped queue_full 1',
      'dropped queue_full 1',
      'dropped queue_full 1',
    ]);
  });

  it('keeps rows beyond those in memory in the spool, and writes all of them later', async () => {
    const ledger = ledgerWith({ folder, limits: { segmentBytes: 100_000 } });
    store.failing = down;
    for (let number = 0; number < 12_000; number += 1) {
      ended(ledger, number);
      if (number % 100 === 0) await endTurn();
    }
    await endTurn();
    await clock.advance(3000);
    store.failing = undefined;
    await clock.advance(3000);
    await expect.poll(async () => (await rows()).length).toBe(12_000);
    expect(ledger.isFull).toBe(false);
    await ledger.close();
    expect(partsIn(folder)).toEqual([]);
  });

  it('goes on without a spool that cannot be written, and brings it up to date when it can', async () => {
    writeFileSync(join(folder, 'spool'), 'no folder');
    const ledger = ledgerWith({ folder });
    store.failing = down;
    sent(ledger, 1);
    await Promise.all([ledger.written(), endTurn()]);
    ended(ledger, 2);
    await endTurn();
    rmSync(join(folder, 'spool'));
    await clock.advance(1000);
    ended(ledger, 3);
    await endTurn();
    expect(events.filter((event) => event.endsWith('spool') || event.includes('spool,'))).toEqual([
      'failed spool, the first',
      'recovered spool',
    ]);
    const [spool = ''] = spoolsIn(folder);
    const found: LedgerRow[] = [];
    const { open } = await readSpool(spool, async (some) => void found.push(...some));
    expect([open.map(({ hold }) => hold), found.map(({ req }) => req)]).toEqual([[1], [reqOf(2), reqOf(3)]]);
  });

  it('has at most so many bytes on the disk', async () => {
    const ledger = ledgerWith({ folder, limits: { maxBytes: 5000, segmentBytes: 1000 } });
    store.failing = down;
    for (let number = 0; number < 50; number += 1) {
      ended(ledger, number);
      await endTurn();
    }
    expect(events).toContain('failed spool, the first');
    store.failing = undefined;
    await clock.advance(3000);
    expect(await rows()).toHaveLength(50);
    // The store has the rows, so that the spool has room again.
    ended(ledger, 50);
    await endTurn();
    expect(events).toContain('recovered spool');
    await ledger.close();
    expect([await rows(), partsIn(folder)]).toEqual([expect.objectContaining({ length: 51 }), []]);
  });

  it('has room in the spool again when it was full of rows that are nowhere else', async () => {
    const ledger = ledgerWith({ folder, limits: { maxBytes: 3_000_000, segmentBytes: 500_000 } });
    store.failing = down;
    for (let number = 0; number < 20_000; number += 1) {
      ended(ledger, number);
      if (number % 100 === 0) await endTurn();
    }
    await endTurn();
    expect(events).toContain('failed spool, the first');
    store.failing = undefined;
    const allWritten = new Promise<void>((resolve) => (onWritten = resolve));
    await clock.advance(3000);
    // The rows are read from the disk, whose time is not that of the clock.
    await allWritten;
    ended(ledger, 20_000);
    await endTurn();
    await ledger.close();
    expect([(await rows()).length, partsIn(folder)]).toEqual([20_001, []]);
  });

  it('removes the parts of the spool of which the store has all rows', async () => {
    const ledger = ledgerWith({ folder, limits: { segmentBytes: 2000 } });
    for (let number = 0; number < 100; number += 1) {
      ended(ledger, number);
      await endTurn();
      await clock.advance(200);
    }
    expect(partsIn(folder).length).toBeLessThanOrEqual(2);
  });

  it('books a request that does not end at its reserve, and corrects it when it ends after all', async () => {
    const ledger = ledgerWith();
    sent(ledger, 1, clock.now() + 1000);
    await clock.advance(6000);
    await endTurn();
    await clock.advance(200);
    expect(await sums()).toEqual(['expired 100']);
    ledger.settle(1, { usd: 7, tokens: 0 });
    ended(ledger, 1);
    await endTurn();
    await clock.advance(200);
    expect(await sums()).toEqual(['try 7', 'adjustment -100', 'expired 100']);
    expect(events).toContain('expired 1');
  });
});
