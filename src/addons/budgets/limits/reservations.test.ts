import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_NANO } from '../../../core/ports/counters.ts';
import { AccountBook, ALONE, type Account } from './accounts.ts';
import { budgetOf } from './budgets.testkit.ts';
import { MAX_HOLDS, Reservations, type Amounts } from './reservations.ts';

const usd = (amount: number, tokens = 0): Amounts => ({ usd: amount, tokens });
const NOON = Date.UTC(2026, 10, 23, 12);
const HOUR = 3_600_000;
const LATER = 1e12;

function start(...budgets: ReturnType<typeof budgetOf>[]) {
  const book = new AccountBook(ALONE);
  const reservations = new Reservations();
  const accounts = (wall = NOON): readonly Account[] => budgets.map((budget) => book.at(budget, wall));
  const reserve = (hold: number, amounts: Amounts, wall?: number) =>
    reservations.reserve({ hold, accounts: accounts(wall), amounts, until: LATER })?.why;
  return { book, reservations, accounts, reserve };
}

describe('a reserve', () => {
  test('fits into every budget of the path or counts on none', () => {
    const { reserve, accounts } = start(budgetOf(100, { ref: 'team:t' }), budgetOf(50));
    expect([reserve(1, usd(40)), reserve(2, usd(20)), reserve(3, usd(10))]).toEqual([undefined, 'exceeded', undefined]);
    expect(accounts().map(({ held }) => held)).toEqual([50, 50]);
  });

  test('counts tokens on budgets of tokens, and USD on the others', () => {
    const { reserve, accounts } = start(budgetOf(100), budgetOf(1000, { unit: 'tokens' }));
    expect(reserve(1, usd(100, 900))).toBeUndefined();
    expect(accounts().map(({ held }) => held)).toEqual([100, 900]);
    expect(reserve(2, usd(0, 100))).toBeUndefined();
    expect(reserve(3, usd(0, 1))).toBe('exceeded');
  });

  test('of nothing is admitted by an exhausted budget', () => {
    const { reserve } = start(budgetOf(0));
    expect([reserve(1, usd(0)), reserve(2, usd(1))]).toEqual([undefined, 'exceeded']);
  });

  test('is admitted and counted by a budget that only warns', () => {
    const { reserve, accounts } = start(budgetOf(10, { hard: false }));
    expect(reserve(1, usd(25))).toBeUndefined();
    expect(accounts()[0]!.percent).toBe(250);
  });

  test('that no store can admit now is admitted while it is down, if the settings allow it, and counted', () => {
    const { reservations, accounts } = start(budgetOf(100));
    const [account] = accounts();
    Object.assign(account!, { limit: 10, free: 90 });
    const asked = { hold: 1, accounts: accounts(), amounts: usd(25), until: LATER };
    expect(reservations.reserve(asked)).toMatchObject({ why: 'unavailable' });
    expect(reservations.reserve({ ...asked, whileDown: true })).toBeUndefined();
    expect(account!.held).toBe(25);
    const beyond = { ...asked, hold: 2, amounts: usd(101) };
    expect(reservations.reserve({ ...beyond, whileDown: true })).toMatchObject({ why: 'exceeded' });
  });

  test('is bounded in number', () => {
    const { reservations, accounts } = start(budgetOf(1e9));
    for (let at = 0; at < MAX_HOLDS; at++)
      reservations.reserve({ hold: at, accounts: accounts(), amounts: usd(1), until: LATER });
    const refusal = reservations.reserve({ hold: -1, accounts: accounts(), amounts: usd(1), until: LATER });
    expect(refusal).toMatchObject({ why: 'unavailable', account: undefined });
  });
});

describe('a settle', () => {
  test('books the real cost in place of the reserve, once', () => {
    const { reservations, reserve, accounts } = start(budgetOf(100));
    reserve(1, usd(60));
    expect([reservations.settle(1, usd(20)), reservations.settle(1, usd(20))]).toEqual([true, false]);
    expect(accounts()[0]).toMatchObject({ used: 20, held: 0, holds: 0 });
  });

  test('above its reserve counts for all later reserves', () => {
    const { reservations, reserve } = start(budgetOf(100));
    reserve(1, usd(60));
    reservations.settle(1, usd(130));
    expect(reserve(2, usd(1))).toBe('exceeded');
  });

  test('counts in the period of its reserve', () => {
    const { reservations, reserve, accounts } = start(budgetOf(100, { period: 'day' }));
    reserve(1, usd(60));
    const [first] = accounts();
    expect(reserve(2, usd(100), NOON + 24 * HOUR)).toBeUndefined();
    reservations.settle(1, usd(70));
    expect([first!.used, accounts(NOON + 24 * HOUR)[0]!.used]).toEqual([70, 0]);
  });

  test('corrects a hold that had expired', () => {
    const { reservations, accounts } = start(budgetOf(100));
    reservations.reserve({ hold: 1, accounts: accounts(), amounts: usd(60), until: 1000 });
    expect([reservations.expire(999), reservations.expire(1000), accounts()[0]!.used]).toEqual([[], [1], 60]);
    expect([reservations.settle(1, usd(20)), accounts()[0]!.used, reservations.settle(1, usd(20))]).toEqual([
      true,
      20,
      false,
    ]);
  });
});

test('what is used stays at the largest amount, whatever is settled', () => {
  const { reservations, accounts } = start(budgetOf(100));
  const [account] = accounts();
  const reserve = (hold: number): unknown =>
    reservations.reserve({ hold, accounts: accounts(), amounts: usd(10), until: 1000 });
  for (const hold of [1, 2, 3]) expect(reserve(hold)).toBeUndefined();
  reservations.settle(1, usd(Number.MAX_SAFE_INTEGER));
  reservations.settle(2, usd(Number.MAX_SAFE_INTEGER));
  expect(account!.used).toBe(MAX_NANO);
  reservations.expire(1000);
  reservations.settle(3, usd(Number.MAX_SAFE_INTEGER));
  expect(account).toMatchObject({ used: MAX_NANO, held: 0 });
});

test('a hold grows only where there is room', () => {
  const { reservations, reserve, accounts } = start(budgetOf(100));
  reserve(1, usd(60));
  expect([
    reservations.grow(1, usd(30)),
    reservations.grow(1, usd(11))?.why,
    reservations.grow(2, usd(1))?.why,
  ]).toEqual([undefined, 'exceeded', 'unavailable']);
  reservations.release(1);
  expect(accounts()[0]).toMatchObject({ used: 0, held: 0 });
});

describe('the wall clock', () => {
  test('that goes back leaves the later period in force', () => {
    const { reserve, accounts } = start(budgetOf(100, { period: 'day' }));
    reserve(1, usd(10), NOON + 24 * HOUR);
    expect(accounts(NOON)[0]!.span.start).toBe(Date.UTC(2026, 10, 24));
    expect(accounts(NOON)[0]!.held).toBe(10);
  });
});

describe('new settings', () => {
  const used = (): ReturnType<typeof start> => {
    const started = start(budgetOf(100));
    started.reserve(1, usd(60));
    started.reservations.settle(1, usd(60));
    return started;
  };

  test('change a cap at once and keep what is spent', () => {
    const { book, reserve, accounts } = used();
    book.use([budgetOf(50)]);
    expect([accounts()[0]!.limit, reserve(2, usd(1))]).toEqual([50, 'exceeded']);
    book.use([budgetOf(61)]);
    expect(reserve(3, usd(1))).toBeUndefined();
  });

  test('keep what is spent of a budget that is gone, for its return', () => {
    const { book, accounts } = used();
    book.use([]);
    book.use([budgetOf(100)]);
    expect(accounts()[0]!.used).toBe(60);
  });
});

test('the accounts are the sum of their holds and settles, in any order and with any repetition', () => {
  const amounts = fc.record({ usd: fc.integer({ min: 0, max: 60 }), tokens: fc.integer({ min: 0, max: 60 }) });
  const ids = fc.integer({ min: 0, max: 6 });
  const command = fc.oneof(
    fc.record({
      kind: fc.constant('reserve' as const),
      id: ids,
      amounts,
      path: fc.subarray([0, 1, 2], { minLength: 1 }),
    }),
    fc.record({ kind: fc.constant('grow' as const), id: ids, amounts }),
    fc.record({ kind: fc.constant('settle' as const), id: ids, amounts }),
    fc.record({ kind: fc.constant('free' as const), id: ids, amounts }),
    fc.record({ kind: fc.constant('expire' as const), id: ids, amounts }),
  );
  fc.assert(
    fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
      const budgets = [
        budgetOf(100, { ref: 'organization:o' }),
        budgetOf(90, { ref: 'team:t', unit: 'tokens' }),
        budgetOf(80, { ref: 'key:k', hard: false }),
      ];
      const { reservations, accounts } = start(...budgets);
      const all = accounts();
      // The model: for each id what it holds or has cost, and on which budgets.
      const model = new Map<
        number,
        { path: readonly number[]; usd: number; tokens: number; state: 'open' | 'expired' | 'over' }
      >();
      const totals = (state: 'open' | 'spent'): number[] =>
        budgets.map(({ unit }, at) =>
          [...model.values()]
            .filter((one) => one.path.includes(at) && (state === 'open') === (one.state === 'open'))
            .reduce((sum, one) => sum + one[unit], 0),
        );
      const fits = (path: readonly number[], more: Amounts): boolean =>
        path.every((at) => {
          const { unit, amount, hard } = budgets[at]!;
          return !hard || more[unit] === 0 || totals('open')[at]! + totals('spent')[at]! + more[unit] <= amount;
        });
      let history = 0;
      for (const one of commands) {
        const known = model.get(one.id);
        if (one.kind === 'reserve') {
          const refusal = reservations.reserve({
            hold: one.id,
            accounts: one.path.map((at) => all[at]!),
            amounts: one.amounts,
            until: 0,
          });
          if (known?.state === 'open') expect(refusal).toBeUndefined();
          else {
            expect(refusal === undefined).toBe(fits(one.path, one.amounts));
            // An id that is used again leaves what it has cost behind.
            if (known && !refusal) model.set((history -= 1), { ...known, state: 'over' });
            if (!refusal) model.set(one.id, { path: one.path, ...one.amounts, state: 'open' });
          }
        } else if (one.kind === 'grow') {
          const grows = known?.state === 'open' && fits(known.path, one.amounts);
          expect(reservations.grow(one.id, one.amounts) === undefined).toBe(grows);
          if (grows)
            model.set(one.id, {
              ...known,
              usd: known.usd + one.amounts.usd,
              tokens: known.tokens + one.amounts.tokens,
            });
        } else if (one.kind === 'settle') {
          const settles = known !== undefined && known.state !== 'over';
          expect(reservations.settle(one.id, one.amounts)).toBe(settles);
          if (settles) model.set(one.id, { ...known, ...one.amounts, state: 'over' });
        } else if (one.kind === 'free') {
          reservations.release(one.id);
          if (known && known.state !== 'over') model.delete(one.id);
        } else {
          reservations.expire(0);
          for (const [id, hold] of model) if (hold.state === 'open') model.set(id, { ...hold, state: 'expired' });
        }
        expect(all.map(({ held }) => held)).toEqual(totals('open'));
        expect(all.map(({ used }) => used)).toEqual(totals('spent'));
      }
    }),
  );
});
