import type { AuditRow } from '../../../core/ports/audit.ts';
import {
  auditIdOf,
  LEASE_MS,
  type Boot,
  type CounterRef,
  type Counters,
  type CounterState,
  type Grant,
  type LeaseId,
} from '../../../core/ports/counters.ts';
import {
  MAX_ADJUSTMENTS,
  MAX_TIGHT_CHANGES,
  type AdjustmentRow,
  type CountingCalls,
  type CountingTables,
  type LastRow,
  type LeaseRow,
} from '../../../core/ports/store-rules.ts';
import type { StoreTools } from '../connect/store-tools.ts';
import { CreditRows, LockComesFirst, type LoadedCredit } from './credit-rows.ts';
import { TightTakes } from './tight-takes.ts';

const PIECE = 500;
const COUNTER = `node, period, spent, leased, unreconciled, notified, CASE WHEN tight_cap IS NOT NULL THEN
  json_build_object('cap', tight_cap, 'change', tight_change, 'since', tight_since) END AS tight`;

/** The rows that a call needs: those of its counters, its leases, its process. */
interface Wanted {
  readonly refs?: readonly CounterRef[];
  readonly leases?: readonly LeaseId[];
  readonly boot?: Boot['id'];
  readonly reap?: { readonly boot?: Boot['id'] };
  readonly lost?: true;
  readonly fresh?: true;
  readonly adjusted?: string;
  readonly limit?: { readonly id: string; readonly ms: number; readonly most: number };
  /** Changes of tightness after this one. */
  readonly knows?: number | undefined;
  /** The lock of standing credit, before all others. */
  readonly lock?: true;
}

interface LoadedRows extends LoadedCredit {
  readonly now: number;
  readonly counters: readonly CounterState[];
  readonly leases: readonly LeaseRow[];
  readonly batch?: number;
  readonly answer?: string;
  readonly others?: number;
  readonly ids?: LeaseId[];
  readonly isAdjusted?: boolean;
  readonly adjustments?: readonly AdjustmentRow[];
  readonly last?: LastRow | null;
}

/** Each call loads its rows locked, runs the rules over them here, and saves what they changed. */
export function countersOf(tools: StoreTools): Counters {
  const { connections, rules } = tools;
  const tryOnce = <Result>(wanted: Wanted, call: (calls: CountingCalls, now: number) => Result) =>
    connections.exchange<LoadedRows, { readonly result: Result } | undefined>(
      ['credit_load', { ...wanted, changes: MAX_TIGHT_CHANGES, live: LEASE_MS, ...tools.now() }, 'credit_save'],
      (loaded) => {
        const rows = new CountingRows(loaded, tools, wanted.lock === true);
        const calls = rules.counting((_, task) => task(rows));
        try {
          return [{ result: call(calls, loaded.now) }, rows.changed];
        } catch (error) {
          if (error instanceof LockComesFirst) return [undefined, undefined];
          throw error;
        }
      },
    );
  const run = async <Result>(wanted: Wanted, call: (calls: CountingCalls, now: number) => Result): Promise<Result> => {
    const done = (await tryOnce(wanted, call)) ?? (await tryOnce({ ...wanted, lock: true }, call));
    return done!.result;
  };
  const tight = new TightTakes(tools);
  return {
    async take(requests, by, batch, credit) {
      const quick = credit ? undefined : await tight.take(requests, by, batch);
      const wanted = {
        refs: requests.flatMap(({ path }) => path),
        boot: by.id,
        fresh: true,
        knows: credit?.knows,
      } as const;
      const result = quick ?? (await run(wanted, (calls, now) => calls.take(now, requests, by, batch, credit)));
      tight.heard(result.grants);
      return result;
    },
    report: (used, by) =>
      run({ leases: used.map(({ lease }) => lease), boot: by.id }, (calls, now) => calls.report(now, used, by)),
    giveBack: async (leases, by, last) => {
      const open = last === undefined ? [] : await openLeases(tools, by);
      await run({ leases: [...leases, ...open] }, (calls, now) => calls.giveBack(now, leases, by, last));
    },
    reap: (boot) => run({ reap: boot === undefined ? {} : { boot } }, (calls, now) => calls.reap(now, boot)),
    adjust: (adjustment, by) => {
      const { node, period, id, limit } = adjustment;
      const earlier = limit && { id: auditIdOf(adjustment), ms: limit.ms, most: MAX_ADJUSTMENTS };
      const wanted = {
        refs: [{ node, period }],
        lost: true,
        adjusted: id,
        ...(earlier && { limit: earlier }),
      } as const;
      return run(wanted, (calls, now) => calls.adjust(now, adjustment, by));
    },
    notify: ({ node, period }, bit) =>
      run({ refs: [{ node, period }] }, (calls, now) => calls.notify(now, { node, period }, bit)),
    read: (refs) => read(tools, refs),
    all: () => allOf(tools),
    forget: (age) => connections.call('counters_forget', { age, ...tools.now() }),
  };
}

async function read({ connections, rules }: StoreTools, refs: readonly CounterRef[]): Promise<readonly CounterState[]> {
  const wanted = connections.literal(JSON.stringify(refs));
  const found = await connections.one<FoundCounter>(
    `SELECT ${COUNTER} FROM counter JOIN jsonb_to_recordset(${wanted}) AS r(node text, period bigint) USING (node, period)`,
  );
  const byName = new Map(found.map((row) => [nameOf(row), stateOf(row)]));
  return refs.map((ref) => byName.get(nameOf(ref)) ?? rules.noCounter(ref));
}

async function* allOf({ reads }: StoreTools): AsyncIterable<readonly CounterState[]> {
  let last: CounterRef = { node: '', period: -1 };
  for (;;) {
    const piece = await reads.one<FoundCounter>(
      `SELECT ${COUNTER} FROM counter WHERE (node, period) > (${reads.literal(last.node)}, ${last.period}) ORDER BY node, period LIMIT ${PIECE}`,
    );
    if (piece.length === 0) return;
    yield piece.map(stateOf);
    last = piece.at(-1)!;
  }
}

async function openLeases({ connections }: StoreTools, { id }: Boot): Promise<readonly LeaseId[]> {
  const ofBoot = `FROM lease WHERE boot = ${connections.literal(id)} AND state`;
  const found = await connections.one<{ readonly id: LeaseId }>(`SELECT id ${ofBoot} IN ('live', 'lost') ORDER BY id`);
  return found.map((lease) => lease.id);
}

type FoundCounter = Omit<CounterState, 'tight'> & { readonly tight: CounterState['tight'] | null };

const stateOf = ({ tight, ...row }: FoundCounter): CounterState => (tight ? { ...row, tight } : row);

const nameOf = ({ node, period }: CounterRef): string => `${period} ${node}`;

class CountingRows implements CountingTables {
  readonly #loaded: LoadedRows;
  readonly #tools: StoreTools;
  readonly #counters: Map<string, CounterState>;
  readonly #leases: Map<LeaseId, LeaseRow>;
  readonly #live = new Map<string, LeaseId>();
  readonly #savedCounters = new Map<string, CounterState>();
  readonly #savedLeases = new Map<LeaseId, LeaseRow>();
  readonly #audit: AuditRow[] = [];
  readonly credit: CreditRows;
  #other: Record<string, unknown> | undefined;

  constructor(loaded: LoadedRows, tools: StoreTools, isLocked: boolean) {
    this.#loaded = loaded;
    this.#tools = tools;
    this.#counters = new Map(loaded.counters.map((row) => [nameOf(row), row]));
    for (const row of loaded.tight)
      this.#counters.set(nameOf(row), { ...this.#counters.get(nameOf(row))!, tight: row.tight });
    this.credit = new CreditRows({
      loaded,
      now: loaded.now,
      isLocked,
      counters: () => this.#counters.values(),
      save: (changed) => this.#save(changed),
    });
    this.#leases = new Map(loaded.leases.map((row) => [row.id, row]));
    for (const row of loaded.leases) if (row.state === 'live') this.#live.set(liveName(row.boot, row), row.id);
  }

  /** For `credit_save`. Undefined: nothing. */
  get changed(): object | undefined {
    if (this.#savedCounters.size + this.#savedLeases.size + this.#audit.length === 0 && !this.#other) return undefined;
    return {
      counters: [...this.#savedCounters.values()],
      leases: [...this.#savedLeases.values()],
      ...(this.#audit.length > 0 && { audit: this.#audit }),
      ...this.#other,
    };
  }

  readonly counter = (ref: CounterRef): CounterState | undefined => this.#counters.get(nameOf(ref));

  saveCounter(row: CounterState): void {
    this.#counters.set(nameOf(row), row);
    this.#savedCounters.set(nameOf(row), row);
  }

  readonly lease = (id: LeaseId): LeaseRow | undefined => this.#leases.get(id);
  readonly liveLease = (boot: Boot['id'], ref: CounterRef): LeaseRow | undefined =>
    this.#leases.get(this.#live.get(liveName(boot, ref)) ?? 0);
  readonly reapable = (): readonly LeaseRow[] => this.#loaded.leases;
  readonly openLeases = (boot: Boot['id']): readonly LeaseRow[] =>
    this.#loaded.leases.filter((row) => row.boot === boot);
  readonly lostLeases = (ref: CounterRef): readonly LeaseRow[] =>
    [...this.#leases.values()].filter((row) => row.state === 'lost' && nameOf(row) === nameOf(ref));
  readonly newLeaseId = (): LeaseId => this.#loaded.ids!.shift()!;

  saveLease(row: LeaseRow): void {
    this.#leases.set(row.id, row);
    this.#savedLeases.set(row.id, row);
    if (row.state === 'live') this.#live.set(liveName(row.boot, row), row.id);
    else if (this.liveLease(row.boot, row)?.id === row.id) this.#live.delete(liveName(row.boot, row));
  }

  readonly lastBatch = (): number => this.#loaded.batch ?? 0;
  readonly lastAnswer = (): readonly Grant[] => JSON.parse(this.#loaded.answer ?? '[]') as Grant[];

  saveAnswer(_boot: Boot['id'], batch: number, answer: readonly Grant[]): void {
    this.#save({ batch, answer: JSON.stringify(answer) });
  }

  saveBoot(boot: Boot, seenAt: number): void {
    this.credit.seen(boot.id);
    this.#save({ boot, seenAt });
  }

  readonly countBoots = (): number => (this.#loaded.others ?? 0) + 1;

  prune(before: number): void {
    this.#save({ prune: before });
  }

  readonly isAdjusted = (): boolean => this.#loaded.isAdjusted === true;

  saveAdjusted(id: string): void {
    this.#save({ adjusted: id });
  }

  readonly adjustments = (): readonly AdjustmentRow[] => this.#loaded.adjustments ?? [];

  addAudit(...[event, by]: Parameters<CountingTables['addAudit']>): void {
    const last = this.#audit.at(-1) ?? this.#loaded.last ?? undefined;
    this.#audit.push(this.#tools.chain.next(event, by, last, this.#loaded.now));
  }

  #save(other: object): void {
    this.#other = { ...this.#other, ...other };
  }
}

const liveName = (boot: Boot['id'], ref: CounterRef): string => `${boot} ${nameOf(ref)}`;
