import {
  CREDIT_PARTS,
  creditOf,
  LEASE_MS,
  type Boot,
  type CounterState,
  type CreditAnswer,
  type CreditUse,
} from '../../../../core/ports/counters.ts';
import type { Nano } from '../../../../core/ports/money.ts';
import { MAX_TIGHT_CHANGES, type CreditTables } from '../../../../core/ports/store-rules.ts';
import { checkInteger } from './checks.ts';

// Why these rules keep the bound: README.md of this folder.

/** A counter becomes tight where more of its cap than this is spent or leased. */
const TIGHT_SHARE = 0.8;
/** A counter stays tight as long as more of its cap than this is, and at least for `STAYS_TIGHT_MS`: a large request can then wait for kept room. */
const LOOSE_SHARE = 0.7;
const STAYS_TIGHT_MS = 60_000;
/** Processes name periods by their own wall clocks, which may differ from the store's by a minute. */
const CLOCKS_DIFFER_MS = 120_000;

/** The tables that the rules of tightness need. `credit` is undefined where the backend gives none. */
export interface TightnessTables {
  readonly credit?: CreditTables | undefined;
  saveCounter(row: CounterState): void;
}

export const takenOf = ({ spent, leased, unreconciled }: CounterState): Nano => spent + leased + unreconciled;

/**
 * The amount that may be granted of a counter to a request that needs at least `need`. A counter that cannot grant it below `TIGHT_SHARE` becomes
 * tight; then everything is free but the credit of processes that may not know this yet.
 */
export function freeOf(
  tables: TightnessTables,
  counter: CounterState,
  { cap, need, now }: { readonly cap: Nano; readonly need: Nano; readonly now: number },
): Nano {
  const taken = takenOf(counter);
  const { credit } = tables;
  if (!credit) return cap - taken;
  const { since, cap: known } = counter.tight ?? { since: 0, cap };
  const roomy = Math.floor(cap * TIGHT_SHARE) - taken;
  const isLoose = now - since >= STAYS_TIGHT_MS && taken + need <= cap * LOOSE_SHARE;
  if (since > 0 && !isLoose) return cap - taken - keptOf(credit, counter, { cap, now });
  if (since > 0) changeTightness(tables, { ...counter, tight: undefined }, { cap, since: 0, now });
  // A process that does not know a lower cap yet has credit by the higher one.
  if (roomy < Math.max(0, need) || (since === 0 && cap < known)) {
    const tight = changeTightness(tables, counter, { cap, since: now, now });
    return cap - taken - keptOf(credit, tight, { cap, now });
  }
  if (since === 0 && (!counter.tight || cap > known))
    tables.saveCounter({ ...counter, tight: { change: 0, ...counter.tight, since: 0, cap } });
  return roomy;
}

/** The counter as it is to be saved after its amounts have changed: what a report or an adjustment adds makes it tight, too. */
export function withTightness(tables: TightnessTables, counter: CounterState, now: number): CounterState {
  const { tight } = counter;
  if (!tables.credit || !tight || tight.since > 0 || takenOf(counter) <= tight.cap * TIGHT_SHARE) return counter;
  return changeTightness(tables, counter, { cap: tight.cap, since: now, now });
}

/** A counter to which an amount was added that no lease covers: its cap is not known here. */
export const tightened = (tables: TightnessTables, counter: CounterState, now: number): CounterState =>
  !tables.credit || (counter.tight?.since ?? 0) > 0
    ? counter
    : changeTightness(tables, counter, { cap: 0, since: now, now });

function changeTightness(
  tables: TightnessTables,
  counter: CounterState,
  { cap, since, now }: { readonly cap: Nano; readonly since: number; readonly now: number },
): CounterState {
  const credit = tables.credit!;
  credit.lock();
  // By the clock: after a failover that lost changes, a number that a process knows does not return for another change.
  const change = Math.max(credit.lastChange() + 1, Math.floor(now));
  credit.saveLastChange(change);
  const changed = { ...counter, tight: { cap: Math.max(cap, counter.tight?.cap ?? 0), change, since } };
  tables.saveCounter(changed);
  return changed;
}

/** Credit that processes may still use on a tight counter: of those that may not know of the change, living or not. */
function keptOf(
  credit: CreditTables,
  { tight, period }: CounterState,
  { cap, now }: { readonly cap: Nano; readonly now: number },
): Nano {
  const { change, cap: known } = tight!;
  // A clock that goes back to before the period began tells nothing of who has called in it.
  const began = Math.min(period, now);
  let kept = 0;
  for (const boot of credit.boots())
    // A process that has not reported in this period has no credit in it.
    if (boot.knows < change && boot.seenAt + CLOCKS_DIFFER_MS >= began)
      kept += creditOf(Math.max(known, cap), boot.parts);
  return kept;
}

/** Notes what a process says of its credit. Call it after the covers of the same call. @param isCovered it is true by now */
export function noteUse(
  credit: CreditTables,
  by: Boot,
  { use: { parts, knows }, isCovered }: { readonly use: CreditUse; readonly isCovered: boolean },
): void {
  checkInteger('the parts of a process', parts, 0, CREDIT_PARTS);
  checkInteger('a change of tightness', knows, 0);
  const before = useOf(credit, by) ?? { parts: 0, knows: 0 };
  credit.saveUse(by.id, isCovered ? { parts, knows } : { parts: Math.max(parts, before.parts), knows: before.knows });
}

/** Answers a process that asks for credit, at the end of its call. */
export function answerUse(
  credit: CreditTables,
  by: Boot,
  { use, now }: { readonly use: CreditUse; readonly now: number },
): CreditAnswer {
  const before = useOf(credit, by) ?? use;
  if (partsFor(credit, by, { use, now }) > before.parts) credit.lock();
  const parts = partsFor(credit, by, { use, now });
  credit.saveUse(by.id, { knows: before.knows, parts: Math.max(before.parts, parts) });
  const changed = credit.changedAfter(use.knows, MAX_TIGHT_CHANGES);
  const isWhole = changed.length < MAX_TIGHT_CHANGES;
  const last = changed.at(-1)?.tight?.change ?? use.knows;
  return {
    parts,
    changes: changed.map(({ node, period, tight }) => ({ node, period, isTight: (tight?.since ?? 0) > 0 })),
    // The counter of the last change may have been removed.
    knows: isWhole ? Math.max(last, credit.lastChange()) : last,
    isWhole,
  };
}

const useOf = (credit: CreditTables, { id: own }: Boot): CreditUse | undefined =>
  credit.boots().find(({ id }) => id === own);

/** An equal part for each living process, of what those that are silent do not have. More than before only for one that knows all changes. */
function partsFor(
  credit: CreditTables,
  by: Boot,
  { use: { parts, knows }, now }: { readonly use: CreditUse; readonly now: number },
): number {
  const others = credit.boots().filter(({ id }) => id !== by.id);
  const live = 1 + others.filter(({ seenAt }) => seenAt > now - LEASE_MS).length;
  // A process alone has the whole room of every counter in its leases.
  const equal = live === 1 ? 0 : Math.floor(CREDIT_PARTS / live);
  const most = Math.min(equal, Math.max(0, CREDIT_PARTS - others.reduce((sum, other) => sum + other.parts, 0)));
  return knows >= credit.lastChange() ? most : Math.min(most, parts);
}
