import { countLosses } from '../kernel/index.ts';
import type { RecordedAttempt, RequestRecord } from './record.ts';

/** Maximum bytes of a record as JSON, for any input of callers and upstreams. */
export const MAX_RECORD_BYTES = 32 * 1024;

/** Maximum items of a list, first and last ones; fewer if their texts are long. */
const MAX_ITEMS = [20, 8, 3, 1] as const;

interface LeftOut {
  readonly attempts: number;
  readonly tries: number;
  readonly losses: number;
  readonly files: number;
  readonly skipped: number;
}

export interface BoundedRecord extends RequestRecord {
  readonly leftOut?: LeftOut;
}

/** Bounds a record's size. Returns the same record when it is small, as nearly all are. */
export function boundRecord(record: RequestRecord): BoundedRecord {
  if (isSmall(record)) return record;
  for (const items of MAX_ITEMS) {
    const bounded = withAtMost(record, items);
    if (Buffer.byteLength(JSON.stringify(bounded)) <= MAX_RECORD_BYTES) return bounded;
  }
  return withAtMost(record, 1);
}

/** Records within these counts are below the bound even with the longest texts, so nothing has to be measured. */
function isSmall({ attempts, skipped, metadata }: RequestRecord): boolean {
  if (attempts.length > 2 || skipped.length > 4) return false;
  if (metadata && attempts.length + skipped.length > 1) return false;
  let tries = 0;
  let losses = 0;
  let files = 0;
  for (const attempt of attempts) {
    tries += attempt.tries.length;
    losses += attempt.losses.length;
    files += attempt.files.length;
  }
  return tries <= 8 && losses <= 8 && files <= 8;
}

function withAtMost(record: RequestRecord, items: number): BoundedRecord {
  const kept = ends(record.attempts, items);
  const attempts = kept.map((attempt) => boundAttempt(attempt, items));
  const skipped = ends(record.skipped, items);
  const leftOut: LeftOut = {
    attempts: record.attempts.length - attempts.length,
    tries: sum(kept, attempts, 'tries'),
    losses: sum(kept, attempts, 'losses'),
    files: sum(kept, attempts, 'files'),
    skipped: record.skipped.length - skipped.length,
  };
  const isWhole = Object.values(leftOut).every((count) => count === 0);
  return isWhole ? record : { ...record, attempts, skipped, leftOut };
}

function boundAttempt(attempt: RecordedAttempt, items: number): RecordedAttempt {
  const { tries, losses, files } = attempt;
  return { ...attempt, tries: ends(tries, items), losses: losses.slice(0, items), files: files.slice(0, items) };
}

function sum(
  before: readonly RecordedAttempt[],
  after: readonly RecordedAttempt[],
  list: 'tries' | 'losses' | 'files',
): number {
  const count = (attempt: RecordedAttempt): number =>
    list === 'losses' ? countLosses(attempt.losses) : attempt[list].length;
  return before.reduce((left, attempt, index) => left + count(attempt) - count(after[index]!), 0);
}

/** The first and last items, which are the most informative. */
function ends<T>(list: readonly T[], items: number): readonly T[] {
  if (list.length <= items) return list;
  const first = Math.floor(items / 2);
  return [...list.slice(0, first), ...list.slice(first - items)];
}
