import * as fc from 'fast-check';
import { anyRecord } from '../../../core/record/records.testkit.ts';
import type { RequestRecord } from '../../../core/record/record.ts';
import { NOON } from '../store/contract/opened-store.testkit.ts';

const [ANY] = fc.sample(
  anyRecord.filter(({ attempts: [first] }) => first !== undefined && first.durationMs >= 0),
  { numRuns: 1, seed: 1 },
);

/** The record of a request with one attempt that cost so much. */
export function anyLedgerRecord(nano: number, receivedAt = NOON): RequestRecord {
  const attempt = ANY!.attempts[0]!;
  const cost = { nano, unknown: undefined, source: 'reported', saved: undefined } as const;
  return { ...ANY!, receivedAt, attempts: [{ ...attempt, semantic: undefined, lostCosts: [], cost }] };
}
