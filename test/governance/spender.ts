/**
 * A process that spends: it reserves, writes down what the provider will charge, and settles later. Its clock jumps by a day now and
 * then. The test kills it at any moment: what is in its file has been charged.
 */
import { openSync, writeSync } from 'node:fs';
import { AccountBook, type Account } from '../../src/addons/budgets/limits/accounts.ts';
import { budgetOf } from '../../src/addons/budgets/limits/budgets.testkit.ts';
import { Leases } from '../../src/addons/budgets/limits/leases.ts';
import { Reservations } from '../../src/addons/budgets/limits/reservations.ts';
import { newBoot } from '../../src/core/ports/boot.ts';
import type { ToPrimary, ToWorker } from '../../src/addons/workers/ipc.ts';
import { SharedState } from '../../src/addons/workers/shared-state.ts';
import type { Counters } from '../../src/core/ports/counters.ts';
import { systemClock } from '../../src/core/kernel/system-clock.ts';

const DAY_MS = 86_400_000;
const [, , path = '', cap = '0', clockOf] = process.argv;
const file = openSync(path, 'a');
const write = (...words: (string | number)[]): void => void writeSync(file, `${words.join(' ')}\n`);

let jumped = 0;
const clock = { ...systemClock, wall: () => Date.now() + jumped };
const budget = budgetOf(Number(cap), { ref: 'team:t', period: 'day' });

const state = new SharedState((message: ToPrimary) => void process.send?.(message), clock);
const { counters } = state;
process.on('message', (message: ToWorker) => {
  if (message.type === 'state') state.receive(message);
});
/** One of four processes has a slow line to the store, and takes larger parts of the budget. */
const slowness = process.pid % 4 === 0 ? 300 : 0;
const slow: Pick<Counters, 'take' | 'report' | 'giveBack'> = {
  take: (...args) => clock.sleep(slowness).then(() => counters.take(...args)),
  report: (...args) => clock.sleep(slowness).then(() => counters.report(...args)),
  giveBack: (...args) => clock.sleep(slowness).then(() => counters.giveBack(...args)),
};
const leases = new Leases({
  counters: slowness > 0 ? slow : counters,
  boot: newBoot('worker', clock),
  clock,
  onStore() {},
  onLost() {},
});
const book = new AccountBook(leases);
const reservations = new Reservations(leases);
leases.start(book);

/** The requests in flight of each account: what they cost beyond their reserves. */
const excess = new Map<Account, Map<number, number>>();
const numbers = new Map<Account, number>();
let holds = 0;

function spend(): void {
  if (clockOf !== 'steady' && Math.random() < 0.01) jumped = [-DAY_MS, 0, DAY_MS][Math.floor(Math.random() * 3)]!;
  const account = book.at(budget, clock.wall());
  const reserve = 50 + Math.floor(Math.random() * 450);
  const cost = Math.floor(reserve * (Math.random() < 0.4 ? 1 + Math.random() * 0.9 : Math.random()));
  const hold = (holds += 1);
  const refusal = reservations.reserve({
    hold,
    accounts: [account],
    amounts: { usd: reserve, tokens: 0 },
    until: Infinity,
  });
  if (refusal) {
    if (refusal.why === 'exceeded') write('refused');
    return;
  }
  if (!excess.has(account)) {
    excess.set(account, new Map());
    numbers.set(account, numbers.size);
  }
  const own = excess.get(account)!;
  own.set(hold, Math.max(0, cost - reserve));
  const inFlight = [...own.values()].reduce((sum, one) => sum + one, 0);
  write('sent', `${process.pid}/${numbers.get(account)!}`, account.span.start, cost, inFlight);
  setTimeout(() => {
    own.delete(hold);
    reservations.settle(hold, { usd: cost, tokens: 0 });
  }, Math.random() * 60);
}

setInterval(() => {
  for (let at = 0; at < 3; at++) spend();
}, 10);
