import {
  aggregate,
  isCumulative,
  render,
  type FamilySnapshot,
  addSamples,
  seriesOf,
  type SampleSnapshot,
} from '../../core/record/metrics/aggregate.ts';
import { SERIES_IDLE_MS } from '../../core/record/metrics/families.ts';
import { contentTypeFor, type Metrics } from '../../core/record/metrics/registry.ts';
import type { ToPrimary } from './ipc.ts';
import { type LabelUse, ModelLabels } from '../../core/catalog/model-labels.ts';
import type { Clock } from '../../plugin/index.ts';

type Families = readonly FamilySnapshot[];

type MetricsReport = Pick<Extract<ToPrimary, { readonly type: 'metrics' }>, 'families' | 'which'>;

interface ReportedMetrics {
  /** From the latest message. */
  cumulative: Families;
  /** From the latest full report. */
  others: Families;
}

const NO_FAMILIES: Families = [];

/**
 * Merges the metrics of several processes. A dead worker's counters and histograms stay in a sum, so that no counter
 * decreases; its gauges go. A series is removed once no worker has used it for as long as one would keep it.
 */
export class PoolMetrics {
  readonly #own: Pick<Metrics, 'snapshot'>;
  readonly #now: () => number;
  readonly #reported = new Map<number, ReportedMetrics>();
  readonly #ended = new EndedSeries();

  /** @param now monotonic milliseconds. Default: a clock that stands still */
  constructor(own: Pick<Metrics, 'snapshot'>, now: () => number = () => 0) {
    this.#own = own;
    this.#now = now;
  }

  /** Takes a worker's report. Each report is newer than the one before it. */
  receive(worker: number, { families, which }: MetricsReport): void {
    const reported = this.#reported.get(worker) ?? { cumulative: NO_FAMILIES, others: NO_FAMILIES };
    this.#reported.set(worker, reported);
    const workers = families.filter(({ aggregator }) => aggregator !== 'primary');
    const retired = workers.flatMap(({ retired: values, ...family }) => (values ? [{ ...family, values }] : []));
    // This worker has not used them for this long; others may have.
    this.#ended.add(retired, this.#now() - SERIES_IDLE_MS);
    reported.cumulative = workers.filter((family) => isCumulative(family));
    if (which === 'all') reported.others = workers.filter((family) => !isCumulative(family));
  }

  /** The worker has ended, and all its messages have arrived. */
  ended(worker: number): void {
    const reported = this.#reported.get(worker);
    if (!reported) return;
    this.#reported.delete(worker);
    this.#ended.add(reported.cumulative, this.#now());
  }

  /** Renders the reports received so far. Request new ones from the workers first. */
  async scrape(accept: string | undefined): Promise<{ readonly contentType: string; readonly text: string }> {
    const own = await this.#own.snapshot('all');
    const living = [...this.#reported.values()].flatMap(({ cumulative, others }) => [cumulative, others]);
    this.#ended.forget(this.#now() - SERIES_IDLE_MS, living.flat());
    const contentType = contentTypeFor(accept);
    return { contentType, text: await render(aggregate([own, ...living, this.#ended.snapshot()]), contentType) };
  }
}

interface Ended {
  sample: SampleSnapshot;
  /** The last moment at which the series may have been used. */
  usedAt: number;
}

/** Series of dead workers, and those that one has dropped and another may still use: no sum may decrease. */
class EndedSeries {
  readonly #families = new Map<string, { readonly family: FamilySnapshot; readonly series: Map<string, Ended> }>();

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

  /** Forgets series that were not used since `then` and that no worker reports. */
  forget(then: number, living: readonly FamilySnapshot[]): void {
    const reported = Map.groupBy(living, ({ name }) => name);
    for (const [name, { series }] of this.#families) {
      const old = [...series].filter(([, { usedAt }]) => usedAt <= then);
      if (old.length === 0) continue;
      const used = new Set(reported.get(name)?.flatMap(({ values }) => values.map(seriesOf)));
      for (const [key] of old) if (!used.has(key)) series.delete(key);
    }
  }

  snapshot(): readonly FamilySnapshot[] {
    return [...this.#families.values()].map(({ family, series }) => ({
      ...family,
      values: [...series.values()].map(({ sample }) => sample),
    }));
  }
}

/** Decides for all workers which model names are metric labels. */
export class PoolLabels {
  readonly #labels: ModelLabels;
  readonly #spread: (names: readonly string[]) => void;
  #spreadVersion = 0;

  /** @param spread sends the names to all workers */
  constructor(clock: Pick<Clock, 'now'>, spread: (names: readonly string[]) => void) {
    this.#labels = new ModelLabels({ now: () => clock.now() });
    this.#spread = spread;
  }

  get names(): readonly string[] {
    return this.#labels.names;
  }

  /** Takes a worker's report: a model name was answered, or its label was used. */
  receive({ model, keyId }: LabelUse): void {
    this.#labels.answered(model, keyId);
    if (this.#labels.version === this.#spreadVersion) return;
    this.#spreadVersion = this.#labels.version;
    this.#spread(this.#labels.names);
  }
}
