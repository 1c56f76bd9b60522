import type { RequestOutcome } from '../record.ts';
import type { Series } from './series.ts';

/** Maximum number of keys. Nearly all deployments have fewer: routes, models, callers and outcomes that occur together. */
const MAX_KEYS = 4000;

/** The series that requests with one key add to, by the place of the measure among all. Found at first use. */
export interface SeriesOfKey {
  readonly series: (Series | undefined)[];
  /** Those of tries, by their outcome. */
  readonly ofTries: Partial<Record<RequestOutcome, (Series | undefined)[]>>;
}

/** Series by a key that decides all labels. Bounded: when full it begins anew, and series are found again. */
export class KnownSeries {
  readonly #byKey = new Map<string, SeriesOfKey>();

  of(key: string): SeriesOfKey {
    const known = this.#byKey.get(key);
    if (known) return known;
    if (this.#byKey.size === MAX_KEYS) this.#byKey.clear();
    const made: SeriesOfKey = { series: [], ofTries: {} };
    this.#byKey.set(key, made);
    return made;
  }
}
