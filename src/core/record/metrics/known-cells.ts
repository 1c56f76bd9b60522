import type { RequestOutcome } from '../record.ts';
import type { AttemptSeries, CallerLabels, Note, RequestSeries } from './metric-spec.ts';
import type { METRICS } from './metrics.ts';
import type { Exemplar, Series } from './series.ts';

/** The series that alike requests, or alike attempts, add to, by the place of the step. Found at first use. */
export interface SeriesCells<By> {
  /** The values that they have in common: all that decides labels, besides the caller. */
  readonly by: By;
  readonly series: (Series | undefined)[];
}

/** Those of attempts, whose tries end in several ways. */
export interface AttemptCells<By> extends SeriesCells<By> {
  readonly ofTries: Partial<Record<RequestOutcome, (Series | undefined)[]>>;
}

/** Nearly all deployments have fewer: routes, models, callers and outcomes that occur together. */
const MAX_CELLS = 4000;

/** Known cells, by caller and by the route or the model. At the maximum all are forgotten and found again. */
export class KnownCells<C> {
  #callers = new Map<string, Map<string, C[]>>();
  #latest: { readonly caller: string; readonly name: string; readonly list: C[] } | undefined;
  #count = 0;

  /** @returns a list that `add` takes: few outcomes occur with one route or one model */
  of({ key: caller }: CallerLabels, name: string): C[] {
    const latest = this.#latest;
    if (latest !== undefined && latest.name === name && latest.caller === caller) return latest.list;
    let names = this.#callers.get(caller);
    if (!names) this.#callers.set(caller, (names = new Map()));
    let list = names.get(name);
    if (!list) names.set(name, (list = []));
    this.#latest = { caller, name, list };
    return list;
  }

  add(list: C[], cells: C): C {
    this.#count += 1;
    list.push(cells);
    if (this.#count === MAX_CELLS) {
      this.#count = 0;
      this.#callers = new Map();
      this.#latest = undefined;
    }
    return cells;
  }
}

export type MetricKey = keyof typeof METRICS;

/** The parts that the generated code needs to count one record. */
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
