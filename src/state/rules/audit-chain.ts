import { createHash } from 'node:crypto';
import type { Actor } from '../entities.ts';
import type { AuditEvent, AuditRow, AuditVerdict, KnownRow } from '../audit.ts';
import { checkActor, checkText, invalid } from './checks.ts';

const MAX_VALUES = 64 * 1024;
/** The hash that stands for the row before the first. */
const NO_HASH = '0'.repeat(64);

/** The next row of the chain. */
export function nextRow(
  event: AuditEvent,
  by: Actor,
  after: Pick<AuditRow, 'seq' | 'hash'> | undefined,
  at: number,
): AuditRow {
  checkActor(by);
  checkText('the action of an audit row', event.action, 64);
  if (event.kind.length > 64 || event.id.length > 256)
    throw invalid('an audit row has a kind of 64 and an id of 256 characters at most');
  if ((event.reason?.length ?? 0) > 1_000) throw invalid('a reason has at most 1000 characters');
  const row = {
    seq: (after?.seq ?? 0) + 1,
    at,
    actor: by.id,
    role: by.role,
    address: by.address,
    action: event.action,
    kind: event.kind,
    id: event.id,
    ...shortened(event),
    reason: event.reason,
    prev: after?.hash ?? NO_HASH,
  };
  return { ...row, hash: hashOf(row) };
}

function shortened({ before, after }: AuditEvent): Pick<AuditEvent, 'before' | 'after'> {
  if ((before?.length ?? 0) + (after?.length ?? 0) <= MAX_VALUES) return { before, after };
  return { before: before && digestOf(before), after: after && digestOf(after) };
}

const digestOf = (text: string): string => `{"sha256":"${createHash('sha256').update(text).digest('hex')}"}`;

/** SHA-256 over the hash before and a list in a fixed order, which is canonical JSON without a canonicaliser. */
function hashOf(row: Omit<AuditRow, 'hash'>): string {
  const { seq, at, actor, role, address, action, kind, id, before, after, reason, prev } = row;
  const text = [seq, at, actor, role, address ?? null, action, kind, id, before ?? null, after ?? null, reason ?? null];
  return createHash('sha256').update(Buffer.from(prev, 'hex')).update(JSON.stringify(text)).digest('hex');
}

/** The event of a removal of old rows: `last` was the newest of them. */
export const dropOf = (last: Pick<AuditRow, 'seq' | 'hash'>): AuditEvent => ({
  action: 'drop',
  kind: 'audit',
  id: String(last.seq),
  after: JSON.stringify({ hash: last.hash }),
  reason: 'older than state.retention.audit_days',
});

/** The row says that the rows up to `seq` were dropped, of which the last had this hash. */
const isDropOf = (row: AuditRow, seq: number, hash: string): boolean =>
  row.action === 'drop' && row.kind === 'audit' && row.id === String(seq) && row.after === JSON.stringify({ hash });

/**
 * @param rows all rows, from the first
 * @param known a row that is or was among them
 */
export function verifyChain(rows: Iterable<AuditRow>, known?: KnownRow): AuditVerdict {
  let first: AuditRow | undefined;
  let isBegun = true;
  let head = NO_HASH;
  let seq = 0;
  let count = 0;
  for (const row of rows) {
    if (!first) {
      first = row;
      // Old rows may have been dropped: a row of this chain has to say so.
      if (row.seq > 1) [isBegun, head, seq] = [false, row.prev, row.seq - 1];
    }
    count += 1;
    seq += 1;
    const reason = wrongIn(row, { seq, head, known });
    if (reason !== undefined) return { intact: false, at: seq, reason };
    head = row.hash;
    isBegun ||= isDropOf(row, first.seq - 1, first.prev);
  }
  if (first && !isBegun) return { intact: false, at: first.seq - 1, reason: `row ${first.seq - 1} is missing` };
  return (known && missing(known, { first, seq })) ?? { intact: true, rows: count, seq, head };
}

interface Place {
  readonly seq: number;
  /** The hash of the row before. */
  readonly head: string;
  readonly known: KnownRow | undefined;
}

function wrongIn(row: AuditRow, { seq, head, known }: Place): string | undefined {
  if (row.seq !== seq) return `row ${seq} is missing`;
  if (row.prev !== head) return 'it does not follow the row before it';
  if (row.hash !== hashOf(row)) return 'its values are not those of its hash';
  return seq === known?.seq && row.hash !== known.hash ? OTHER_HASH : undefined;
}

/** The verdict on a known row that is not in the chain. @param seq the number of the chain's last row */
function missing(
  known: KnownRow,
  { first, seq }: { readonly first: AuditRow | undefined; readonly seq: number },
): AuditVerdict | undefined {
  if (known.seq > seq) return { intact: false, at: seq + 1, reason: `row ${seq + 1} is missing` };
  if (!first || known.seq >= first.seq) return undefined;
  if (known.seq < first.seq - 1) return { intact: false, at: known.seq, reason: DROPPED };
  return first.prev === known.hash ? undefined : { intact: false, at: known.seq, reason: OTHER_HASH };
}

const OTHER_HASH = 'it had another hash';
const DROPPED = 'it was dropped, as rows older than state.retention.audit_days are: compare with a later row';
