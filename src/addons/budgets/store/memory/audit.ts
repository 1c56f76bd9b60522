import type { Clock } from '../../../../plugin/index.ts';
import {
  MAX_AUDIT_ROWS,
  type Audit,
  type AuditEvent,
  type AuditQuery,
  type AuditRow,
  type AuditVerdict,
  type KnownRow,
} from '../../../../core/ports/audit.ts';
import type { Actor } from '../../../../core/ports/entities.ts';
import { ChainKeys, dropOf, nextRow, verifyChain } from '../rules/audit-chain.ts';
import { KeyEncryptionKeys } from '../rules/sealing.ts';
import { StateFailure } from '../../../../core/ports/failures.ts';

const MAX_ROWS = 100_000;

export class MemoryAudit implements Audit {
  readonly #clock: Clock;
  readonly #rows: AuditRow[] = [];

  readonly #keys: ChainKeys;

  constructor(clock: Clock, ring = KeyEncryptionKeys.none()) {
    this.#clock = clock;
    this.#keys = new ChainKeys(ring);
  }

  /** Returns a function that takes the row back, for a transaction that fails. */
  append(event: AuditEvent, by: Actor): () => void {
    if (this.#rows.length >= MAX_ROWS) throw new StateFailure('full', `the memory holds ${MAX_ROWS} audit rows`);
    this.#rows.push(nextRow(event, by, { after: this.#rows.at(-1), at: this.#clock.wall(), keys: this.#keys }));
    return () => void this.#rows.pop();
  }

  async add(event: AuditEvent, by: Actor): Promise<void> {
    this.append(event, by);
  }

  async rows({ before = Infinity, kind, id, limit = MAX_AUDIT_ROWS }: AuditQuery): Promise<readonly AuditRow[]> {
    const found = this.#rows.filter(
      (row) => row.seq < before && (kind === undefined || row.kind === kind) && (id === undefined || row.id === id),
    );
    return found.toReversed().slice(0, Math.min(limit, MAX_AUDIT_ROWS));
  }

  async dropBefore(at: number, by: Actor): Promise<number> {
    const found = this.#rows.findIndex((row) => row.at >= at);
    const count = found < 0 ? this.#rows.length - 1 : found;
    const last = this.#rows[count - 1];
    if (!last) return 0;
    this.append(dropOf(last), by);
    this.#rows.splice(0, count);
    return count;
  }

  async verify(known?: KnownRow): Promise<AuditVerdict> {
    return verifyChain(this.#rows, this.#keys, known);
  }
}
