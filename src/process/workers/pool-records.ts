/** What one worker said; `answered` is false when it did not in time. */
export interface Answered<A> {
  readonly worker: number;
  readonly answered: boolean;
  readonly answer: A | undefined;
}

/** What is looked at of a record, as json.ts writes it. */
interface ReportedRecord {
  readonly time?: string;
  readonly ended?: string;
  readonly same_id?: number;
  readonly worker: number;
}

/** The latest of those that had the id, and which worker served it. "None" is said only when all have said so. */
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

/** As one process lists them: those that run, then those that ended, the latest first. One that does not answer has a line that says so. */
export function mergeRecords(answers: readonly Answered<readonly object[]>[], limit: number): readonly object[] {
  const lines = answers.flatMap(({ worker, answer }): ReportedRecord[] =>
    (answer ?? []).map((line) => ({ worker, ...line })),
  );
  const running = lines.filter(({ ended }) => ended === undefined).toSorted((a, b) => compare(b.time, a.time));
  const over = lines.filter(({ ended }) => ended !== undefined).toSorted((a, b) => compare(b.ended, a.ended));
  const silent = answers.flatMap(({ worker, answered }) => (answered ? [] : [{ worker, state: 'does not answer' }]));
  return [...silent, ...[...running, ...over].slice(0, limit)];
}

/** Both are moments as ISO 8601 writes them, or not there. */
const compare = (a = '', b = ''): number => (a < b ? -1 : Number(a > b));
