import {
  comparePlaces,
  isPageFull,
  RecordsUnanswered,
  type PlacedLine,
  type RecordPage,
} from '../../core/record/record-query.ts';

/** One worker's answer. `answered` is false if it did not come in time. */
export interface Answered<A> {
  readonly worker: number;
  readonly answered: boolean;
  readonly answer: A | undefined;
}

/** The fields of a record (record/json.ts) that are read here. */
interface ReportedRecord {
  readonly time?: string;
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
  if (silent) throw new RecordsUnanswered(`Worker ${silent.worker} does not answer.`);
  return undefined;
}

/** The page of a list as a single process has it, and the workers that did not answer. */
export function mergePages(answers: readonly Answered<RecordPage>[], limit: number): PooledPage {
  const found = answers
    .flatMap(({ worker, answer }) =>
      (answer?.lines ?? []).map(({ place, line }): PlacedLine => ({ place, line: { worker, ...line } })),
    )
    .toSorted((one, other) => comparePlaces(one.place, other.place));
  const full = found.findIndex(({ place }, index) => isPageFull(found.slice(0, index), place, limit));
  const lines = full === -1 ? found : found.slice(0, full);
  const missed = answers.reduce((sum, { answer }) => sum + (answer?.missed ?? 0), found.length - lines.length);
  const marks = answers.flatMap(({ answer }) => answer?.marks ?? []);
  const oldest = answers.flatMap(({ answer }) => answer?.oldest ?? []).sort(compare);
  return {
    lines,
    more: full !== -1 || answers.some(({ answer }) => answer?.more),
    oldest: oldest[0],
    // A line that a worker had later than the others comes twice, and is never left out.
    marks: {
      running: Math.min(...marks.map(({ running }) => running)),
      ended: Math.min(...marks.map(({ ended }) => ended)),
    },
    ...(answers.some(({ answer }) => answer?.missed !== undefined) && { missed }),
    partial: answers.filter(({ answered }) => !answered).map(({ worker }) => worker),
  };
}

interface PooledPage extends RecordPage {
  /** Workers that did not answer. */
  readonly partial: readonly number[];
}

/** Compares ISO 8601 times; a missing one comes first. */
const compare = (a = '', b = ''): number => (a < b ? -1 : Number(a > b));
