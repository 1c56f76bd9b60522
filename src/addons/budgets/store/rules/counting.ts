import type { Nano } from '../../../../core/ports/money.ts';
import {
  auditIdOf,
  LEASE_MS,
  MAX_NANO,
  type Adjustment,
  type LeaseRequest,
  type Boot,
  type CounterRef,
  type CounterState,
  type CreditUse,
  type Grant,
  type LeaseId,
  type LeaseState,
  type LostLease,
  type TakeResult,
  type LeaseUsage,
} from '../../../../core/ports/counters.ts';
import type { Actor } from '../../../../core/ports/entities.ts';
import { StateFailure } from '../../../../core/ports/failures.ts';
import {
  MAX_ADJUSTMENTS,
  type CountingCalls,
  type CountingTables,
  type LeaseRow,
  type RunCount,
} from '../../../../core/ports/store-rules.ts';
import {
  checkActor,
  checkBoot,
  checkCounter,
  checkInteger,
  checkSize,
  checkTake,
  checkText,
  invalid,
} from './checks.ts';
import { answerUse, freeOf, noteUse, takenOf, tightened, withTightness } from './credit.ts';

/** A lease that ended, or a process without leases, is forgotten after this time: later reports of it would not be counted. */
const KEEP_ENDED_MS = 86_400_000;

/** The methods of `Counters` that write. The time comes first, as in all calls of a store. */
export const countingCalls = (run: RunCount): CountingCalls => ({
  take: (
    now: number,
    requests: readonly LeaseRequest[],
    by: Boot,
    ...[batch, credit]: [batch: number, credit?: CreditUse]
  ) => run(now, (tables) => take(tables, { requests, by, batch, credit }, now)),
  report: (now: number, used: readonly LeaseUsage[], by: Boot) => run(now, (tables) => report(tables, used, by, now)),
  giveBack: (now: number, leases: readonly LeaseId[], by: Boot, last?: LeaseId) =>
    run(now, (tables) => giveBack(tables, { leases, by, last }, now)),
  reap: (now: number, boot: Boot['id'] | undefined) => run(now, (tables) => reap(tables, now, boot)),
  adjust: (now: number, adjustment: Adjustment, by: Actor) => run(now, (tables) => adjust(tables, adjustment, by, now)),
  notify: (now: number, counter: CounterRef, bit: number) => run(now, (tables) => notify(tables, counter, bit)),
});

export const noCounter = ({ node, period }: CounterRef): CounterState => ({
  node,
  period,
  spent: 0,
  leased: 0,
  unreconciled: 0,
  notified: 0,
});

interface TakeCall {
  readonly requests: readonly LeaseRequest[];
  readonly by: Boot;
  readonly batch: number;
  readonly credit: CreditUse | undefined;
}

function take(tables: CountingTables, { requests, by, batch, credit: use }: TakeCall, now: number): TakeResult {
  checkTake(requests, by, batch);
  tables.saveBoot(by, now);
  const last = tables.lastBatch(by.id);
  if (batch < last) throw new StateFailure('conflict', `batch ${batch} comes after batch ${last}`);
  const live = tables.countBoots(now - LEASE_MS);
  const isRepeated = batch === last;
  // A repeated call has covered what it asks for, or has been told that it could not.
  const covered = isRepeated ? [] : requests.map((request) => cover(tables, request, { by, now }));
  if (use && tables.credit) noteUse(tables.credit, by, { use, isCovered: !isRepeated && covered.every(Boolean) });
  const grants = isRepeated
    ? tables.lastAnswer(by.id)
    : requests.map((request, index) => grant(tables, request, { by, now, isCovered: covered[index]! }));
  if (!isRepeated) tables.saveAnswer(by.id, batch, grants);
  return { grants, live, ...(use && tables.credit && { credit: answerUse(tables.credit, by, { use, now }) }) };
}

interface By {
  readonly by: Boot;
  readonly now: number;
}

/** Leases grow to what their process uses and holds already. False: one has ended, and its process has to learn that first. */
function cover(tables: CountingTables, { path, covers = [] }: LeaseRequest, call: By): boolean {
  let isCovered = true;
  for (const [index, { lease: known, total }] of covers.entries()) {
    const lease = tables.liveLease(call.by.id, path[index]!);
    const missing = total - (lease?.granted ?? 0);
    if (known !== 0 && lease?.id !== known) isCovered = false;
    else if (missing > 0) growLease(tables, path[index]!, { ...call, lease, amount: missing });
  }
  return isCovered;
}

function grant(
  tables: CountingTables,
  { path, caps, need, want }: LeaseRequest,
  { by, now, isCovered }: By & { readonly isCovered: boolean },
): Grant {
  const counters = path.map((ref) => tables.counter(ref) ?? noCounter(ref));
  // A counter without a cap may count up to the largest amount.
  const rooms = counters.map((counter, index) => {
    const cap = caps[index];
    return cap === undefined ? MAX_NANO - takenOf(counter) : freeOf(tables, counter, { cap, need, now });
  });
  const free = Math.min(want, ...rooms);
  const granted = free < need || !isCovered ? 0 : Math.max(free, 0);
  const leases = path.map((ref): LeaseState => {
    const lease = tables.liveLease(by.id, ref);
    if (granted > 0) return growLease(tables, ref, { by, now, lease, amount: granted });
    const counter = tables.counter(ref) ?? noCounter(ref);
    return lease ? stateOf(lease, counter) : { lease: 0, state: 'unknown', granted: 0, used: 0, counter };
  });
  return { granted, leases };
}

function growLease(
  tables: CountingTables,
  ref: CounterRef,
  { by, now, lease, amount }: By & { readonly lease: LeaseRow | undefined; readonly amount: Nano },
): LeaseState {
  const grown: LeaseRow = lease
    ? { ...lease, granted: Math.min(MAX_NANO, lease.granted + amount) }
    : {
        id: tables.newLeaseId(),
        boot: by.id,
        ...refOf(ref),
        granted: amount,
        used: 0,
        endedAt: 0,
        state: 'live',
      };
  return replaceLease(tables, lease, { after: grown, now });
}

const refOf = ({ node, period }: CounterRef): CounterRef => ({ node, period });
const restOf = ({ granted, used }: LeaseRow): Nano => Math.max(0, granted - used);

const stateOf = ({ id, state, granted, used }: LeaseRow, counter: CounterState): LeaseState => ({
  lease: id,
  state,
  granted,
  used,
  counter,
});

/** Replaces a lease, and its part in the counter: its rest while it lives is `leased`, while it is lost `unreconciled`. */
function replaceLease(
  tables: CountingTables,
  before: LeaseRow | undefined,
  { after, now }: { readonly after: LeaseRow; readonly now: number },
): LeaseState {
  const counter = tables.counter(after) ?? noCounter(after);
  const part = (lease: LeaseRow | undefined, state: LeaseRow['state']): Nano =>
    lease?.state === state ? restOf(lease) : 0;
  const amounts: CounterState = {
    ...counter,
    // It stays at the largest amount: refusing would keep the other reports of the call out, at each repetition.
    spent: Math.min(MAX_NANO, counter.spent + after.used - (before?.used ?? 0)),
    leased: counter.leased + part(after, 'live') - part(before, 'live'),
    unreconciled: counter.unreconciled + part(after, 'lost') - part(before, 'lost'),
  };
  const changed = withTightness(tables, amounts, now);
  tables.saveLease(after);
  tables.saveCounter(changed);
  return stateOf(after, changed);
}

/** Leases that may be forgotten: no report or return of them is due any more. */
export const isOver =
  (before: number) =>
  (lease: LeaseRow): boolean =>
    lease.endedAt < before && (lease.state === 'ended' || (lease.state === 'lost' && restOf(lease) === 0));

function report(tables: CountingTables, used: readonly LeaseUsage[], by: Boot, now: number): LeaseState[] {
  checkBoot(by);
  checkSize(used.length);
  for (const { usedTotal } of used) checkInteger('a used total', usedTotal, 0, MAX_NANO);
  tables.saveBoot(by, now);
  return used.map(({ lease: id, usedTotal }): LeaseState => {
    const lease = tables.lease(id);
    if (lease?.boot !== by.id) return { lease: id, state: 'unknown', granted: 0, used: 0, counter: undefined };
    return replaceLease(tables, lease, { after: { ...lease, used: Math.max(lease.used, usedTotal) }, now });
  });
}

function giveBack(
  tables: CountingTables,
  { leases, by, last }: { readonly leases: readonly LeaseId[]; readonly by: Boot; readonly last?: LeaseId | undefined },
  now: number,
): void {
  checkSize(leases.length);
  // A process may not know of its last lease: it was killed before the answer came.
  const unknown = last === undefined ? [] : tables.openLeases(by.id).filter(({ id }) => id > last);
  for (const id of [...leases, ...unknown.map((lease) => lease.id)]) {
    const lease = tables.lease(id);
    if (lease?.boot === by.id && lease.state !== 'ended')
      replaceLease(tables, lease, { after: { ...lease, state: 'ended', endedAt: now }, now });
  }
  if (last !== undefined) tables.credit?.saveUse(by.id, undefined);
}

function reap(tables: CountingTables, now: number, boot?: Boot['id']): LostLease[] {
  const due = boot === undefined ? tables.reapable(now - LEASE_MS) : tables.openLeases(boot);
  const living = due.filter(({ state }) => state === 'live');
  const lost = living.map((lease) => {
    replaceLease(tables, lease, { after: { ...lease, state: 'lost', endedAt: now }, now });
    return { lease: lease.id, boot: lease.boot, ...refOf(lease), rest: restOf(lease) };
  });
  tables.prune(now - KEEP_ENDED_MS);
  return lost;
}

function adjust(tables: CountingTables, adjustment: Adjustment, by: Actor, now: number): CounterState {
  checkActor(by);
  checkCounter(adjustment);
  checkText('the id of an adjustment', adjustment.id, 128);
  checkInteger('an adjustment', adjustment.by, -MAX_NANO, MAX_NANO);
  const before = tables.counter(adjustment) ?? noCounter(adjustment);
  if (tables.isAdjusted(adjustment.id)) return before;
  checkLimit(tables, adjustment, by, now);
  const changed =
    adjustment.of === 'spent'
      ? { ...before, spent: before.spent + adjustment.by }
      : writeOff(tables, before, adjustment.by);
  if (Math.abs(changed.spent) > MAX_NANO || changed.unreconciled > MAX_NANO)
    throw invalid(`the counter would leave the range up to ${MAX_NANO}`);
  if (adjustment.dryRun) return before;
  tables.saveAdjusted(adjustment.id);
  tables.saveCounter(adjustment.by > 0 ? tightened(tables, changed, now) : changed);
  const { of, why: reason } = adjustment;
  tables.addAudit(
    {
      action: 'adjust',
      kind: 'counter',
      id: auditIdOf(adjustment),
      before: `{"${of}":${before[of]}}`,
      after: `{"${of}":${changed[of]}}`,
      reason,
    },
    by,
  );
  return changed;
}

/** By the rows of the audit: many small adjustments are a large one. */
function checkLimit(tables: CountingTables, adjustment: Adjustment, { role }: Actor, now: number): void {
  const { limit, by } = adjustment;
  if (!limit) return;
  const rows = tables.adjustments(auditIdOf(adjustment), now - limit.ms);
  let sum = Math.abs(by);
  for (const row of rows) if (row.role === role) sum += Math.abs(amountIn(row.after) - amountIn(row.before));
  if (sum > limit.most || rows.length >= MAX_ADJUSTMENTS)
    throw new StateFailure('not_allowed', `the role ${role} may change the counter by at most ${limit.most} together`);
}

function amountIn(text: string | undefined): Nano {
  const [amount] = Object.values(JSON.parse(text ?? '{}') as Record<string, unknown>);
  return typeof amount === 'number' ? amount : 0;
}

/** A write-off takes what no lease explains, then the oldest lost leases, so that a late report does not take it again. */
function writeOff(tables: CountingTables, counter: CounterState, by: Nano): CounterState {
  const unreconciled = Math.max(0, counter.unreconciled + by);
  const lost = tables.lostLeases(counter);
  let left = lost.reduce((sum, lease) => sum + restOf(lease), 0) - unreconciled;
  for (const lease of lost) {
    if (left <= 0) break;
    const part = Math.min(left, restOf(lease));
    tables.saveLease({ ...lease, granted: lease.granted - part });
    left -= part;
  }
  return { ...counter, unreconciled };
}

function notify(tables: CountingTables, ref: CounterRef, bit: number): boolean {
  checkCounter(ref);
  checkInteger('a bit', bit, 0, 31);
  const counter = tables.counter(ref) ?? noCounter(ref);
  const mask = 1 << bit;
  if ((counter.notified & mask) !== 0) return false;
  tables.saveCounter({ ...counter, notified: counter.notified | mask });
  return true;
}
