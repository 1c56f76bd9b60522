import {
  MAX_AUDIT_ROWS,
  type Audit,
  type AuditEvent,
  type AuditRow,
  type AuditVerdict,
} from '../../../core/ports/audit.ts';
import type { Actor } from '../../../core/ports/entities.ts';
import type { LastRow } from '../../../core/ports/store-rules.ts';
import type { Transaction } from '../connect/connections.ts';
import type { StoreTools } from '../connect/store-tools.ts';

const PIECE = 1_000;
const COLUMNS = 'seq, at, actor, role, address, action, kind, id, "before", "after", reason, prev, hash';

type StoredAudit = { readonly [Column in keyof AuditRow]: AuditRow[Column] | null };

export function auditOf(tools: StoreTools): Audit {
  const { connections, reads, rules, chain } = tools;
  return {
    add: (event, by) => connections.transaction((tx) => appendAudit(tx, tools, event, by)),
    async rows({ before, kind, id, limit = MAX_AUDIT_ROWS }) {
      rules.checks.checkInteger('a limit', limit, 1);
      const conditions = [
        `seq < ${before ?? Number.MAX_SAFE_INTEGER}`,
        ...(kind === undefined ? [] : [`kind = ${reads.literal(kind)}`]),
        ...(id === undefined ? [] : [`id = ${reads.literal(id)}`]),
      ];
      const found = await reads.one<StoredAudit>(
        `SELECT ${COLUMNS} FROM audit WHERE ${conditions.join(' AND ')} ORDER BY seq DESC LIMIT ${Math.min(limit, MAX_AUDIT_ROWS)}`,
      );
      return found.map(rowOf);
    },
    dropBefore: (at, by) =>
      connections.transaction(async (tx) => {
        await tx.query('SELECT audit_last()');
        const [last] = await tx.query<{ seq: number; hash: string }>(
          `SELECT seq, hash FROM audit WHERE seq < coalesce((SELECT min(seq) FROM audit WHERE at >= $1), (SELECT max(seq) FROM audit))
           ORDER BY seq DESC LIMIT 1`,
          at,
        );
        if (!last) return 0;
        await appendAudit(tx, tools, chain.dropOf(last), by);
        await tx.script('SET LOCAL gatehouse.audit_retention = on');
        return tx.change('DELETE FROM audit WHERE seq <= $1', last.seq);
      }),
    verify: (known) =>
      reads.transaction(async (tx) => {
        // Rows come in pieces, of one moment: some may be added or dropped meanwhile.
        await tx.script('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
        return checkRows(tx, chain.check(known));
      }),
  };
}

/** Within a transaction of the caller. */
export async function appendAudit(
  tx: Transaction,
  { chain, now }: StoreTools,
  event: AuditEvent,
  by: Actor,
): Promise<void> {
  const [row] = await tx.query<{ last: LastRow | null; now: number }>(
    'SELECT audit_last() AS last, store_now() AS now',
  );
  const added = chain.next(event, by, row?.last ?? undefined, now().now ?? row!.now);
  await tx.query('SELECT audit_add($1)', JSON.stringify([added]));
}

export async function checkRows(
  tx: Transaction,
  check: ReturnType<StoreTools['chain']['check']>,
): Promise<AuditVerdict> {
  for (let seq = -1; ;) {
    const rows = await tx.query<StoredAudit>(
      `SELECT ${COLUMNS} FROM audit WHERE seq > $1 ORDER BY seq LIMIT ${PIECE}`,
      seq,
    );
    for (const row of rows) {
      const broken = check.add(rowOf(row));
      if (broken) return broken;
      seq = row.seq!;
    }
    if (rows.length < PIECE) return check.end();
  }
}

const rowOf = (row: StoredAudit): AuditRow =>
  Object.fromEntries(Object.entries(row).map(([column, value]) => [column, value ?? undefined])) as unknown as AuditRow;
