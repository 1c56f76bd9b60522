import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { anyLedgerRecord } from '../ledger/ledger.testkit.ts';
import { RequestLedger } from '../ledger/request-ledger.ts';
import { budgetOf } from '../limits/budgets.testkit.ts';
import { BudgetState } from '../reserve/budget-state.ts';
import { createFakeClock, type FakeClock } from '../../../plugin/testing/index.ts';
import { NOON, rowOf } from '../store/contract/opened-store.testkit.ts';
import { StateFailure } from '../../../core/ports/failures.ts';
import type { LedgerRow } from '../../../core/ports/ledger.ts';
import { MemoryCounters } from '../store/memory/counters.ts';
import { spoolsIn } from '../store/spool/read-spool.ts';
import { replaySpool } from './spools.ts';
import { runs } from '../../../../test/support/effort.ts';

const boot = { id: 'b'.repeat(32), host: 'test', role: 'single', version: '0', configHash: '', startedAt: 0 } as const;
const BUDGETS = [budgetOf(1_000_000, { ref: 'organization:o' }), budgetOf(1_000_000, { ref: 'key:k', period: 'day' })];

type Step =
  | { readonly what: 'send'; readonly usd: number; readonly minutes: number }
  | { readonly what: 'end'; readonly which: number; readonly percent: number }
  | { readonly what: 'turn' }
  | { readonly what: 'pass'; readonly ms: number }
  /** `deaf`: the store hears each call, and its answers are lost. */
  | { readonly what: 'store'; readonly down: false | 'away' | 'deaf' };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        what: fc.constant('send' as const),
        usd: fc.integer({ min: 1, max: 1000 }),
        minutes: fc.constantFrom(0, 10),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        what: fc.constant('end' as const),
        which: fc.nat(20),
        percent: fc.integer({ min: 0, max: 130 }),
      }),
    },
    { weight: 4, arbitrary: fc.record({ what: fc.constant('turn' as const) }) },
    { weight: 2, arbitrary: fc.record({ what: fc.constant('pass' as const), ms: fc.constantFrom(250, 1100, 7000) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        what: fc.constant('store' as const),
        down: fc.constantFrom(false as const, 'away' as const, 'deaf' as const),
      }),
    },
  ),
  { minLength: 5, maxLength: 60 },
);

interface Send {
  readonly hold: number;
  readonly usd: number;
  /** Its time may pass before it ends. */
  readonly isShort: boolean;
  /** Its cost; undefined: it has not ended. */
  cost: number | undefined;
  /** The lines that the spool has of it. */
  known: 'nothing' | 'sent' | 'ended';
}

it('A spool that is replayed after any kill, as often as it may be, leaves exactly what was sent and settled', async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.integer({ min: 1, max: 5 }), async (all, replays) => {
      const folder = mkdtempSync(join(tmpdir(), 'gatehouse-replay-'));
      try {
        const { sends, store } = await runUntilKilled(folder, all);
        const { counters } = store;
        const [spool] = spoolsIn(folder);
        await counters.reap(boot.id);
        const booked = sumOf(sends, ({ cost }) => cost);
        // Cost beyond the reserve may not have been reported.
        const least = sumOf(sends, ({ cost, usd }) => Math.min(cost, usd));
        for (const { spent, leased, unreconciled } of await counters.read(COUNTERS))
          expect(spent + leased + unreconciled).toBeGreaterThanOrEqual(least);
        if (spool !== undefined) await replayOften(spool, store, replays);
        const takenBack = sends.reduce((sum, { isShort, usd }) => sum + (isShort ? usd : 0), 0);
        expect([...store.rows.values()].reduce((sum, { nano }) => sum + nano, 0)).toBe(booked);
        for (const state of await counters.read(COUNTERS)) {
          expect(state).toMatchObject({ leased: 0, unreconciled: 0 });
          // Reports are totals: what a late end takes back of a reserve that was reported stays spent.
          expect(state.spent).toBeGreaterThanOrEqual(booked);
          expect(state.spent).toBeLessThanOrEqual(booked + takenBack);
        }
      } finally {
        rmSync(folder, { recursive: true });
      }
    }),
    { numRuns: runs(60) },
  );
});

async function replayOften(spool: string, store: Parameters<typeof replaySpool>[1], times: number): Promise<void> {
  const copy = join(spool, '../../copy');
  cpSync(spool, copy, { recursive: true });
  for (let replay = 0; replay < times; replay += 1) {
    cpSync(copy, spool, { recursive: true });
    await replaySpool(spool, store);
  }
}

const COUNTERS = BUDGETS.map(({ id, period }) => ({
  node: id,
  period: period === 'day' ? Date.UTC(2026, 10, 22) : 0,
}));

/** A try that was sent and is not known to have ended counts at its reserve; one that had not left counts nothing. */
const sumOf = (
  sends: readonly Send[],
  costOf: (send: { readonly cost: number; readonly usd: number }) => number,
): number =>
  sends.reduce((sum, { known, cost = 0, usd }) => {
    if (known === 'nothing') return sum;
    return sum + (known === 'ended' ? costOf({ cost, usd }) : usd);
  }, 0);

/** A ledger keeps the first row of each request, try and kind, as those of the contract do. */
function openStore(clock: FakeClock) {
  const rows = new Map<string, LedgerRow>();
  const append = async (given: readonly LedgerRow[]): Promise<number> => {
    const before = rows.size;
    for (const row of given) {
      const name = `${row.req} ${row.att} ${row.kind}`;
      if (!rows.has(name)) rows.set(name, row);
    }
    return rows.size - before;
  };
  return { counters: new MemoryCounters(clock), ledger: { append }, rows };
}

async function runUntilKilled(folder: string, all: readonly Step[]) {
  const clock = createFakeClock(NOON);
  const store = openStore(clock);
  const line: { down: false | 'away' | 'deaf'; dead: boolean } = { down: false, dead: false };
  const over = async <T>(call: () => Promise<T>): Promise<T> => {
    const answer = line.dead || line.down === 'away' ? undefined : { is: await call() };
    if (!answer || line.down !== false) throw new StateFailure('unavailable', 'no answer');
    return answer.is;
  };
  const turn: (() => void)[] = [];
  const ledger = new RequestLedger({
    clock,
    boot,
    folder,
    ledger: { append: (rows) => over(() => store.ledger.append(rows)) },
    reports: { waiting() {}, written() {}, dropped() {}, failed() {}, recovered() {}, spoolBytes() {}, expired() {} },
    endOfTurn: (task) => void turn.push(task),
    limits: { segmentBytes: 1500 },
  });
  const accounting = new BudgetState({
    clock,
    ledger,
    shared: {
      boot,
      counters: {
        take: (...args) => over(() => store.counters.take(...args)),
        report: (...args) => over(() => store.counters.report(...args)),
        giveBack: (...args) => over(() => store.counters.giveBack(...args)),
      },
    },
  });
  const sends: Send[] = [];
  /** The end of a try is written with the next send, or at this time. */
  let gathered = Infinity;
  const written = (): void => {
    for (const send of sends) send.known = send.cost === undefined ? 'sent' : 'ended';
  };
  const endTurn = (): void => {
    if (turn.length === 0) return;
    turn.splice(0).forEach((task) => task());
    written();
  };
  const pass = async (ms: number): Promise<void> => {
    endTurn();
    await clock.advance(ms);
    if (clock.now() >= gathered) {
      gathered = Infinity;
      written();
    }
    endTurn();
  };
  for (const step of all) {
    if (step.what === 'store') line.down = step.down;
    if (step.what === 'turn') endTurn();
    if (step.what === 'pass') await pass(step.ms);
    if (step.what === 'send') await send(step.usd, step.minutes);
    if (step.what === 'end') end(step.which, step.percent);
  }
  line.dead = true;
  return { sends, store };

  async function send(usd: number, minutes: number): Promise<void> {
    const hold = accounting.newHold();
    const amounts = { usd, tokens: 0 };
    const until = clock.now() + minutes * 60_000 + 1000;
    const reserve = () =>
      accounting.reservations.reserve({ hold, accounts: accounting.accountsOf(BUDGETS), amounts, until });
    if (reserve()) {
      await pass(10);
      if (reserve()) return;
    }
    const row = rowOf(hold, { kind: 'expired', src: 'lost', nano: usd, held: usd, at: NOON });
    ledger.send({ hold, accounts: accounting.accountsOf(BUDGETS), amounts, row, until });
    sends.push({ hold, usd, isShort: minutes === 0, cost: undefined, known: 'nothing' });
  }

  function end(which: number, percent: number): void {
    const running = sends.filter(({ cost }) => cost === undefined);
    const one = running[which % Math.max(1, running.length)];
    if (!one) return;
    // More than its reserve, too: an upstream may charge more than the estimate.
    one.cost = Math.floor((one.usd * percent) / 100);
    const amounts = { usd: one.cost, tokens: 0 };
    gathered = Math.min(gathered, clock.now() + 50);
    const isFree = percent === 0;
    if (isFree) accounting.reservations.release(one.hold);
    else accounting.reservations.settle(one.hold, amounts);
    ledger.settle(one.hold, amounts);
    ledger.add(anyLedgerRecord(one.cost), {
      req: rowOf(one.hold).req,
      organization: undefined,
      user: undefined,
      requestId: '',
      priceVersion: '',
    });
  }
}
