import type { Clock } from '../../../../plugin/index.ts';
import type {
  Boot,
  CounterRef,
  Counters,
  CounterState,
  CreditUse,
  Grant,
  LeaseId,
} from '../../../../core/ports/counters.ts';
import { StateFailure } from '../../../../core/ports/failures.ts';
import { countingCalls, isOver, noCounter } from '../rules/counting.ts';
import type { CountingTables, CreditTables, LeaseRow } from '../../../../core/ports/store-rules.ts';

const MAX_COUNTERS = 200_000;
const PIECE = 500;

// Periods have the same number of digits in a name, so that names sort as nodes and periods do.
const nameOf = ({ node, period }: CounterRef): string => `${node}\n${String(period).padStart(16, '0')}`;

export class MemoryCounters implements Counters {
  readonly #clock: Clock;
  readonly #undo = new UndoLog();
  readonly #counters = new Map<string, CounterState>();
  readonly #leases = new Map<LeaseId, LeaseRow>();
  readonly #living = new Map<string, LeaseId>();
  readonly #boots = new Map<Boot['id'], number>();
  readonly #answers = new Map<Boot['id'], { readonly batch: number; readonly grants: readonly Grant[] }>();
  readonly #adjusted = new Map<string, true>();
  readonly #uses = new Map<Boot['id'], CreditUse>();
  readonly #changes = new Map<'last', number>();
  #lastLease: LeaseId = 0;
  readonly #calls = countingCalls((_now, task) => this.#undo.run(() => task(this.#tables())));

  readonly #givesCredit: boolean;

  /** @param options `givesCredit`: standing credit, as the store of a fleet does */
  constructor(clock: Clock, { givesCredit = false }: { readonly givesCredit?: boolean } = {}) {
    this.#clock = clock;
    this.#givesCredit = givesCredit;
  }

  take: Counters['take'] = async (...args) => this.#calls.take(this.#clock.wall(), ...args);
  report: Counters['report'] = async (...args) => this.#calls.report(this.#clock.wall(), ...args);
  giveBack: Counters['giveBack'] = async (...args) => this.#calls.giveBack(this.#clock.wall(), ...args);
  reap: Counters['reap'] = async (boot) => this.#calls.reap(this.#clock.wall(), boot);
  adjust: Counters['adjust'] = async (...args) => this.#calls.adjust(this.#clock.wall(), ...args);
  notify: Counters['notify'] = async (...args) => this.#calls.notify(this.#clock.wall(), ...args);

  readonly read = async (counters: readonly CounterRef[]): Promise<readonly CounterState[]> =>
    counters.map((ref) => this.#counters.get(nameOf(ref)) ?? noCounter(ref));

  async *all(): AsyncIterable<readonly CounterState[]> {
    const sorted = [...this.#counters].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
    for (let from = 0; from < sorted.length; from += PIECE) yield sorted.slice(from, from + PIECE);
  }

  async forget(ageMs: number): Promise<number> {
    const periodStart = this.#clock.wall() - ageMs;
    const old = [...this.#counters].filter(
      ([, { period, leased }]) => period > 0 && period < periodStart && leased === 0,
    );
    for (const [name] of old) this.#counters.delete(name);
    for (const lease of this.#leases.values()) if (!this.#counters.has(nameOf(lease))) this.#leases.delete(lease.id);
    return old.length;
  }

  readonly #leasesWhere = (isMeant: (lease: LeaseRow) => boolean): LeaseRow[] =>
    [...this.#leases.values()].filter(isMeant);

  #tables(): CountingTables {
    const undo = this.#undo;
    const living = (boot: string, ref: CounterRef): string => `${boot} ${nameOf(ref)}`;
    return {
      counter: (ref) => this.#counters.get(nameOf(ref)),
      saveCounter: (row) => {
        if (this.#counters.size >= MAX_COUNTERS && !this.#counters.has(nameOf(row)))
          throw new StateFailure('full', `the memory holds ${MAX_COUNTERS} counters`);
        undo.set(this.#counters, nameOf(row), row);
      },
      lease: (id) => this.#leases.get(id),
      liveLease: (boot, ref) => this.#leases.get(this.#living.get(living(boot, ref)) ?? 0),
      reapable: (since) =>
        this.#leasesWhere(({ state, boot }) => state === 'live' && (this.#boots.get(boot) ?? 0) < since),
      openLeases: (boot) => this.#leasesWhere((lease) => lease.boot === boot && lease.state !== 'ended'),
      lostLeases: (ref) => this.#leasesWhere((lease) => lease.state === 'lost' && nameOf(lease) === nameOf(ref)),
      newLeaseId: () => (this.#lastLease += 1),
      saveLease: (row) => {
        undo.set(this.#leases, row.id, row);
        if (row.state === 'live') undo.set(this.#living, living(row.boot, row), row.id);
        else if (this.#living.get(living(row.boot, row)) === row.id) undo.delete(this.#living, living(row.boot, row));
      },
      lastBatch: (boot) => this.#answers.get(boot)?.batch ?? 0,
      lastAnswer: (boot) => this.#answers.get(boot)?.grants ?? [],
      saveAnswer: (boot, batch, grants) => undo.set(this.#answers, boot, { batch, grants }),
      saveBoot: ({ id }, seenAt) => undo.set(this.#boots, id, seenAt),
      countBoots: (since) => [...this.#boots.values()].filter((seenAt) => seenAt > since).length,
      prune: (before) => this.#prune(before),
      isAdjusted: (id) => this.#adjusted.has(id),
      saveAdjusted: (id) => undo.set(this.#adjusted, id, true),
      // The audit is a part of the state store.
      adjustments: () => [],
      addAudit() {},
      credit: this.#givesCredit ? this.#creditTables() : undefined,
    };
  }

  #creditTables(): CreditTables {
    const undo = this.#undo;
    return {
      lock() {},
      boots: () => [...this.#uses].map(([id, use]) => ({ id, ...use, seenAt: this.#boots.get(id) ?? 0 })),
      saveUse: (boot, use) => (use ? undo.set(this.#uses, boot, use) : undo.delete(this.#uses, boot)),
      lastChange: () => this.#changes.get('last') ?? 0,
      saveLastChange: (change) => undo.set(this.#changes, 'last', change),
      changedAfter: (change, most) =>
        [...this.#counters.values()]
          .filter(({ tight }) => tight && tight.change > change)
          .toSorted((one, other) => one.tight!.change - other.tight!.change)
          .slice(0, most),
    };
  }

  #prune(before: number): void {
    for (const { id } of this.#leasesWhere(isOver(before))) this.#undo.delete(this.#leases, id);
    const owners = new Set([...this.#leases.values()].map(({ boot }) => boot));
    for (const [id, seenAt] of this.#boots)
      if (seenAt < before && !owners.has(id) && !this.#uses.get(id)?.parts) {
        this.#undo.delete(this.#uses, id);
        this.#undo.delete(this.#boots, id);
        this.#undo.delete(this.#answers, id);
      }
  }
}

/** Maps that a failed task leaves as they were: what a transaction is to a database. */
class UndoLog {
  #undo: (() => void)[] = [];

  run<Result>(task: () => Result): Result {
    this.#undo = [];
    try {
      return task();
    } catch (error) {
      for (const undo of this.#undo.toReversed()) undo();
      throw error;
    } finally {
      this.#undo = [];
    }
  }

  set<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
    const before = map.get(key);
    const had = map.has(key);
    map.set(key, value);
    this.#undo.push(() => (had ? map.set(key, before as Value) : map.delete(key)));
  }

  delete<Key, Value>(map: Map<Key, Value>, key: Key): void {
    const before = map.get(key);
    if (map.delete(key)) this.#undo.push(() => map.set(key, before as Value));
  }
}
