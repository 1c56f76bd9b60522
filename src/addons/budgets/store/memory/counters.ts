import type { Clock } from '../../../../plugin/index.ts';
import type {
  Adjustment,
  LeaseRequest,
  Boot,
  CounterRef,
  Counters,
  CounterState,
  Grant,
  LeaseId,
  LeaseState,
  LostLease,
  TakeResult,
  LeaseUsage,
} from '../../../../core/ports/counters.ts';
import type { Actor } from '../../../../core/ports/entities.ts';
import { StateFailure } from '../../../../core/ports/failures.ts';
import * as counting from '../rules/counting.ts';
import type { CountingTables, LeaseRow } from '../rules/counting.ts';
import type { MemoryAudit } from './audit.ts';
import { UndoLog } from './undo-log.ts';

const MAX_COUNTERS = 200_000;
const PIECE = 500;

// Periods have the same number of digits in a name, so that names sort as nodes and periods do.
const nameOf = ({ node, period }: CounterRef): string => `${node}\n${String(period).padStart(16, '0')}`;

export class MemoryCounters implements Counters {
  readonly #clock: Clock;
  readonly #audit: MemoryAudit;
  readonly #undo = new UndoLog();
  readonly #counters = new Map<string, CounterState>();
  readonly #leases = new Map<LeaseId, LeaseRow>();
  /** Living leases by process and counter. */
  readonly #living = new Map<string, LeaseId>();
  readonly #boots = new Map<Boot['id'], number>();
  readonly #answers = new Map<Boot['id'], { readonly batch: number; readonly grants: readonly Grant[] }>();
  readonly #adjusted = new Map<string, true>();
  #lastLease: LeaseId = 0;

  constructor(clock: Clock, audit: MemoryAudit) {
    this.#clock = clock;
    this.#audit = audit;
  }

  async take(requests: readonly LeaseRequest[], by: Boot, batch: number): Promise<TakeResult> {
    return this.#run((tables) => counting.take(tables, { requests, by, batch }, this.#clock.wall()));
  }

  async report(used: readonly LeaseUsage[], by: Boot): Promise<readonly LeaseState[]> {
    return this.#run((tables) => counting.report(tables, used, by, this.#clock.wall()));
  }

  async giveBack(leases: readonly LeaseId[], by: Boot): Promise<void> {
    this.#run((tables) => counting.giveBack(tables, leases, by, this.#clock.wall()));
  }

  async reap(now: number, boot?: Boot['id']): Promise<readonly LostLease[]> {
    return this.#run((tables) => counting.reap(tables, now, boot));
  }

  async adjust(adjustment: Adjustment, by: Actor): Promise<CounterState> {
    return this.#run((tables) => counting.adjust(tables, adjustment, by));
  }

  async read(counters: readonly CounterRef[]): Promise<readonly CounterState[]> {
    return counters.map((ref) => this.#counters.get(nameOf(ref)) ?? counting.noCounter(ref));
  }

  async notify(counter: CounterRef, bit: number): Promise<boolean> {
    return this.#run((tables) => counting.notify(tables, counter, bit));
  }

  async *all(): AsyncIterable<readonly CounterState[]> {
    const sorted = [...this.#counters].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
    for (let from = 0; from < sorted.length; from += PIECE) yield sorted.slice(from, from + PIECE);
  }

  async forget(periodStart: number): Promise<number> {
    const old = [...this.#counters].filter(
      ([, { period, leased }]) => period > 0 && period < periodStart && leased === 0,
    );
    for (const [name] of old) this.#counters.delete(name);
    for (const lease of this.#leases.values()) if (!this.#counters.has(nameOf(lease))) this.#leases.delete(lease.id);
    return old.length;
  }

  #run<Result>(task: (tables: CountingTables) => Result): Result {
    return this.#undo.run(() => task(this.#tables()));
  }

  #leasesWhere(isMeant: (lease: LeaseRow) => boolean): LeaseRow[] {
    return [...this.#leases.values()].filter(isMeant);
  }

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
      reapable: (now, boot) =>
        this.#leasesWhere(
          ({ state, expiresAt, boot: owner }) =>
            state === 'live' && (boot === undefined ? expiresAt < now : owner === boot),
        ),
      lostLeases: (ref) => this.#leasesWhere((lease) => lease.state === 'lost' && nameOf(lease) === nameOf(ref)),
      newLeaseId: () => (this.#lastLease += 1),
      saveLease: (row) => {
        undo.set(this.#leases, row.id, row);
        if (row.state === 'live') undo.set(this.#living, living(row.boot, row), row.id);
        else if (this.#living.get(living(row.boot, row)) === row.id) undo.delete(this.#living, living(row.boot, row));
      },
      renew: (boot, expiresAt) => {
        for (const lease of this.#leasesWhere(({ state, boot: owner }) => state === 'live' && owner === boot))
          undo.set(this.#leases, lease.id, { ...lease, expiresAt });
      },
      lastBatch: (boot) => this.#answers.get(boot)?.batch ?? 0,
      lastAnswer: (boot) => this.#answers.get(boot)?.grants ?? [],
      saveAnswer: (boot, batch, grants) => undo.set(this.#answers, boot, { batch, grants }),
      saveBoot: ({ id }, seenAt) => undo.set(this.#boots, id, seenAt),
      countBoots: (since) => [...this.#boots.values()].filter((seenAt) => seenAt > since).length,
      prune: (before) => this.#prune(before),
      isAdjusted: (id) => this.#adjusted.has(id),
      saveAdjusted: (id) => undo.set(this.#adjusted, id, true),
      addAudit: (event, by) => undo.onFailure(this.#audit.append(event, by)),
    };
  }

  #prune(before: number): void {
    for (const { id } of this.#leasesWhere(counting.isOver(before))) this.#undo.delete(this.#leases, id);
    const owners = new Set([...this.#leases.values()].map(({ boot }) => boot));
    for (const [id, seenAt] of this.#boots)
      if (seenAt < before && !owners.has(id)) {
        this.#undo.delete(this.#boots, id);
        this.#undo.delete(this.#answers, id);
      }
  }
}
