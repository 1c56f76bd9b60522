import { addSamples, seriesOf, type FamilySnapshot, type SampleSnapshot } from '../../record/metrics/aggregate.ts';

interface Ended {
  sample: SampleSnapshot;
  /** The last moment at which the series may have been used. */
  usedAt: number;
}

interface EndedFamily {
  readonly family: FamilySnapshot;
  readonly series: Map<string, Ended>;
}

/**
 * Series that no worker reports any more but that still belong to the sum: counters and histograms of dead workers, and
 * series that one worker has dropped. Another worker may still use the latter, and a sum must not decrease.
 */
export class EndedSeries {
  readonly #families = new Map<string, EndedFamily>();

  /** @param usedAt the last moment at which the series may have been used */
  add(families: readonly FamilySnapshot[], usedAt: number): void {
    for (const family of families) {
      for (const sample of family.values) this.#add(family, sample, usedAt);
    }
  }

  #add(family: FamilySnapshot, sample: SampleSnapshot, usedAt: number): void {
    let known = this.#families.get(family.name);
    if (!known) this.#families.set(family.name, (known = { family, series: new Map() }));
    const key = seriesOf(sample);
    const ended = known.series.get(key);
    if (!ended) {
      known.series.set(key, { sample, usedAt });
      return;
    }
    ended.sample = addSamples(ended.sample, sample);
    ended.usedAt = Math.max(ended.usedAt, usedAt);
  }

  /**
   * Forgets series that were not used since `then` and that no worker reports. A series is in the sum completely or not
   * at all.
   */
  forget(then: number, living: readonly FamilySnapshot[]): void {
    const reported = new Map<string, Set<string>>();
    const reportOf = (name: string): Set<string> => {
      let keys = reported.get(name);
      if (!keys) {
        keys = new Set(living.filter((family) => family.name === name).flatMap(({ values }) => values.map(seriesOf)));
        reported.set(name, keys);
      }
      return keys;
    };
    for (const [name, { series }] of this.#families) {
      for (const [key, { usedAt }] of series) if (usedAt <= then && !reportOf(name).has(key)) series.delete(key);
    }
  }

  snapshot(): readonly FamilySnapshot[] {
    return [...this.#families.values()].map(({ family, series }) => ({
      ...family,
      values: [...series.values()].map(({ sample }) => sample),
    }));
  }
}
