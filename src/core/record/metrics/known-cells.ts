import type { RequestOutcome } from '../record.ts';
import type { AttemptSeries, CallerLabels, Note, RequestSeries } from './metric-spec.ts';
import type { METRICS } from './metrics.ts';
import type { Exemplar, Series } from './series.ts';

/** The series that alike requests, or alike attempts, add to, by the place of the step. Found at first use. */
export interface Cells<By> {
  /** What they have in common: all that decides labels, besides the caller. */
  readonly by: By;
  readonly series: (Series | undefined)[];
}

/** Those of attempts, whose tries end in several ways. */
export interface AttemptCells<By> extends Cells<By> {
  readonly ofTries: Partial<Record<RequestOutcome, (Series | undefined)[]>>;
}

interface CellsOfCaller<R, A> {
  readonly key: string;
  readonly requests: Cells<R>[];
  readonly attempts: AttemptCells<A>[];
}

/** Nearly all deployments have fewer: routes, models, callers and outcomes that occur together. */
const MAX_CELLS = 4000;

/** All known cells, by caller. At the maximum all are forgotten and found again. */
export class KnownCells<R, A> {
  readonly #callers = new Map<string, CellsOfCaller<R, A>>();
  #latest: CellsOfCaller<R, A> | undefined;
  #count = 0;

  of({ key }: CallerLabels): CellsOfCaller<R, A> {
    if (this.#latest?.key === key) return this.#latest;
    let found = this.#callers.get(key);
    if (!found) this.#callers.set(key, (found = { key, requests: [], attempts: [] }));
    this.#latest = found;
    return found;
  }

  /** Adds cells to those of a caller. */
  add<C extends Cells<unknown>>(list: C[], cells: C): C {
    if (this.#count === MAX_CELLS) {
      this.#count = 0;
      this.#callers.clear();
      this.#latest = undefined;
    }
    this.#count += 1;
    list.push(cells);
    return cells;
  }
}

export type MetricKey = keyof typeof METRICS;

/** What the generated code needs to count one record. */
export interface Counting {
  /** The trace of the request. Undefined if it is not exported. */
  readonly exemplar: Exemplar | undefined;
  /** For counts with any labels: they add for the caller of the request. */
  readonly notes: Readonly<Record<MetricKey, Note<string>>>;
  /** Adds the first value of a step. Returns its series; undefined: all places are taken, and it counts under `__other__`. */
  first(step: number, by: RequestSeries, value: number): Series | undefined;
  firstOfAttempt(step: number, by: AttemptSeries, value: number): Series | undefined;
  firstOfTry(step: number, by: AttemptSeries, outcome: RequestOutcome, value: number): Series | undefined;
}
