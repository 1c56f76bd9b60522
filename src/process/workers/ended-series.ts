import { addSamples, seriesOf, type FamilySnapshot, type SampleSnapshot } from '../../record/metrics/aggregate.ts';

interface Ended {
  sample: SampleSnapshot;
  /** Nothing is known to have been recorded after. */
  usedAt: number;
}

interface EndedFamily {
  readonly family: FamilySnapshot;
  readonly series: Map<string, Ended>;
}

/**
 * What no worker tells any more and what still belongs to the sum: the counters and histograms of workers that have died, and the
 * series that a worker has let go of, because another may still use them and a sum must not go back.
 */
export class EndedSeries {
  readonly #families = new Map<string, EndedFamily>();

  /** @param usedAt the latest moment at which something may have been recorded */
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

  /** Forgets the series that nothing was recorded under since `then`, and that no worker has: all of it or nothing of it is in the sum. */
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
