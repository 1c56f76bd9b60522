import type { CounterRef, CounterState, Grant } from '../../../../core/ports/counters.ts';
import { countingCalls, noCounter } from '../rules/counting.ts';
import type { CountingTables, LeaseRow } from '../../../../core/ports/store-rules.ts';
import type { SqliteAudit } from './audit.ts';
import type { Database } from './database.ts';

const PIECE = 500;
// Its name is that of the first tables, whose leases had an end of their own.
const LEASE = 'SELECT id, boot, node, period, granted, used, expires_at AS endedAt, state FROM lease';

export class SqliteCounters {
  readonly calls = countingCalls((now, task) => this.#db.transaction(() => task(this.#tables(now))));
  readonly #db: Database;
  readonly #audit: SqliteAudit;

  constructor(db: Database, audit: SqliteAudit) {
    this.#db = db;
    this.#audit = audit;
  }

  read(counters: readonly CounterRef[]): CounterState[] {
    const tables = this.#tables(0);
    return counters.map((ref) => tables.counter(ref) ?? noCounter(ref));
  }

  /** The counters that follow one, in the order of `Counters.all`. */
  after(last: CounterRef | undefined): CounterState[] {
    const { node, period } = last ?? { node: '', period: -1 };
    return this.#db
      .all<CounterState>(
        'SELECT * FROM counter WHERE (node, period) > (?, ?) ORDER BY node, period LIMIT ?',
        node,
        period,
        PIECE,
      )
      .map((row) => ({ ...row }));
  }

  forget(ageMs: number, now: number): number {
    const periodStart = now - ageMs;
    return this.#db.transaction(() => {
      const removed = this.#db.run('DELETE FROM counter WHERE period > 0 AND period < ? AND leased = 0', periodStart);
      this.#db.run(
        'DELETE FROM lease WHERE period > 0 AND period < ? AND NOT EXISTS (SELECT 1 FROM counter WHERE counter.node = lease.node AND counter.period = lease.period)',
        periodStart,
      );
      return removed;
    });
  }

  #tables(now: number): CountingTables {
    const db = this.#db;
    return {
      ...leaseTables(db),
      ...bootTables(db),
      counter: ({ node, period }) => {
        const row = db.get<CounterState>('SELECT * FROM counter WHERE node = ? AND period = ?', node, period);
        return row && { ...row };
      },
      saveCounter: ({ node, period, spent, leased, unreconciled, notified }) =>
        db.put('counter', ['node', 'period'], { node, period, spent, leased, unreconciled, notified }),
      prune: (before) => {
        db.run(
          `DELETE FROM lease WHERE expires_at < ? AND (state = 'ended' OR (state = 'lost' AND used >= granted))`,
          before,
        );
        db.run(
          'DELETE FROM boot WHERE seen_at < ? AND NOT EXISTS (SELECT 1 FROM lease WHERE lease.boot = boot.id)',
          before,
        );
      },
      isAdjusted: (id) => db.get('SELECT 1 FROM adjusted WHERE id = ?', id) !== undefined,
      saveAdjusted: (id) => db.insert('adjusted', { id }),
      adjustments: (id, since) => this.#audit.adjustments(id, since),
      addAudit: (event, by) => this.#audit.append(event, by, now),
    };
  }
}

const leaseTables = (db: Database) =>
  ({
    lease: (id) => db.get<LeaseRow>(`${LEASE} WHERE id = ?`, id),
    liveLease: (boot, { node, period }) =>
      db.get<LeaseRow>(`${LEASE} WHERE boot = ? AND node = ? AND period = ? AND state = 'live'`, boot, node, period),
    reapable: (since) =>
      db.all<LeaseRow>(
        `${LEASE} WHERE state = 'live' AND NOT EXISTS (SELECT 1 FROM boot WHERE boot.id = lease.boot AND seen_at >= ?) ORDER BY id`,
        since,
      ),
    openLeases: (boot) => db.all<LeaseRow>(`${LEASE} WHERE state IN ('live', 'lost') AND boot = ? ORDER BY id`, boot),
    lostLeases: ({ node, period }) =>
      db.all<LeaseRow>(`${LEASE} WHERE node = ? AND period = ? AND state = 'lost' ORDER BY id`, node, period),
    newLeaseId: () =>
      db.get<{ value: number }>(`UPDATE sequence SET value = value + 1 WHERE name = 'lease' RETURNING value`)!.value,
    saveLease: ({ id, boot, node, period, granted, used, endedAt, state }) =>
      db.put('lease', ['id'], { id, boot, node, period, granted, used, expires_at: endedAt, state }),
  }) satisfies Partial<CountingTables>;

const bootTables = (db: Database) =>
  ({
    lastBatch: (boot) => db.get<{ batch: number }>('SELECT batch FROM boot WHERE id = ?', boot)?.batch ?? 0,
    lastAnswer: (boot) =>
      JSON.parse(db.get<{ answer: string }>('SELECT answer FROM boot WHERE id = ?', boot)?.answer ?? '[]') as Grant[],
    saveAnswer: (boot, batch, answer) =>
      void db.run('UPDATE boot SET batch = ?, answer = ? WHERE id = ?', batch, JSON.stringify(answer), boot),
    saveBoot: ({ id, host, role, version, configHash: config_hash, startedAt: started_at }, seen_at) => {
      const row = { id, host, role, version, config_hash, started_at, seen_at, batch: 0, answer: '[]' };
      db.insert('boot', row, 'ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at');
    },
    countBoots: (since) =>
      db.get<{ count: number }>('SELECT count(*) AS count FROM boot WHERE seen_at > ?', since)!.count,
  }) satisfies Partial<CountingTables>;
