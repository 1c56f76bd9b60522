/** One worker's answer. `answered` is false if it did not come in time. */
export interface Answered<A> {
  readonly worker: number;
  readonly answered: boolean;
  readonly answer: A | undefined;
}

/** The fields of a record (record/json.ts) that are read here. */
interface ReportedRecord {
  readonly time?: string;
  readonly ended?: string;
  readonly same_id?: number;
  readonly worker: number;
}

/** The latest request with the id, with the worker that served it. Undefined only if every worker has answered. */
export function findRecord(answers: readonly Answered<object | undefined>[]): object | undefined {
  const found = answers
    .flatMap(({ worker, answer }): ReportedRecord[] => (answer ? [{ worker, ...answer }] : []))
    .toSorted((a, b) => compare(b.time, a.time));
  const [latest] = found;
  if (latest) {
    const same = found.reduce((sum, { same_id: more = 1 }) => sum + more, 0);
    return same > 1 ? { ...latest, same_id: same } : latest;
  }
  const silent = answers.find(({ answered }) => !answered);
  if (silent) throw new Error(`worker ${silent.worker} does not answer`);
  return undefined;
}

/**
 * Lists records as a single process does: running ones, then ended ones, the latest first. A worker that does not
 * answer gets its own line.
 */
export function mergeRecords(answers: readonly Answered<readonly object[]>[], limit: number): readonly object[] {
  const lines = answers.flatMap(({ worker, answer }): ReportedRecord[] =>
    (answer ?? []).map((line) => ({ worker, ...line })),
  );
  const running = lines.filter(({ ended }) => ended === undefined).toSorted((a, b) => compare(b.time, a.time));
  const over = lines.filter(({ ended }) => ended !== undefined).toSorted((a, b) => compare(b.ended, a.ended));
  const silent = answers.flatMap(({ worker, answered }) => (answered ? [] : [{ worker, state: 'does not answer' }]));
  return [...silent, ...[...running, ...over].slice(0, limit)];
}

/** Compares ISO 8601 times; a missing one comes first. */
const compare = (a = '', b = ''): number => (a < b ? -1 : Number(a > b));
