import { aggregate, isCumulative, render, type FamilySnapshot } from '../../record/metrics/aggregate.ts';
import { SERIES_IDLE_MS } from '../../record/metrics/families.ts';
import { contentTypeFor, type Metrics } from '../../record/metrics/registry.ts';
import { EndedSeries } from './ended-series.ts';
import type { ToPrimary } from './ipc.ts';

type Families = readonly FamilySnapshot[];

type MetricsReport = Pick<Extract<ToPrimary, { readonly type: 'metrics' }>, 'families' | 'which'>;

interface ReportedMetrics {
  /** As of the latest message. */
  cumulative: Families;
  /** As of the latest full answer. */
  others: Families;
}

const NOTHING: Families = [];

/**
 * The metrics of several processes as those of one. What a worker has counted stays when it dies: its last counters and
 * histograms move into a sum of the dead, so that no counter goes back. Its gauges go with it. A series leaves when no worker has
 * used it for as long as one process keeps it, whole.
 */
export class PoolMetrics {
  readonly #own: Pick<Metrics, 'snapshot'>;
  readonly #now: () => number;
  readonly #reported = new Map<number, ReportedMetrics>();
  readonly #ended = new EndedSeries();

  /** @param now monotonic milliseconds. Default: time stands still */
  constructor(own: Pick<Metrics, 'snapshot'>, now: () => number = () => 0) {
    this.#own = own;
    this.#now = now;
  }

  /** Each message is newer than the one before it. */
  heard(worker: number, { families, which }: MetricsReport): void {
    const reported = this.#reported.get(worker) ?? { cumulative: NOTHING, others: NOTHING };
    this.#reported.set(worker, reported);
    const workers = families.filter(({ aggregator }) => aggregator !== 'primary');
    const retired = workers.flatMap(({ retired: values, ...family }) => (values ? [{ ...family, values }] : []));
    // This worker has not used them for so long; others may have.
    this.#ended.add(retired, this.#now() - SERIES_IDLE_MS);
    reported.cumulative = workers.filter((family) => isCumulative(family));
    if (which === 'all') reported.others = workers.filter((family) => !isCumulative(family));
  }

  /** The worker has ended, and nothing of it is still on its way. */
  ended(worker: number): void {
    const reported = this.#reported.get(worker);
    if (!reported) return;
    this.#reported.delete(worker);
    this.#ended.add(reported.cumulative, this.#now());
  }

  /** From what has been told so far: ask the workers first. */
  async scrape(accept: string | undefined): Promise<{ readonly contentType: string; readonly text: string }> {
    const own = await this.#own.snapshot('all');
    const living = [...this.#reported.values()].flatMap(({ cumulative, others }) => [cumulative, others]);
    this.#ended.forget(this.#now() - SERIES_IDLE_MS, living.flat());
    const contentType = contentTypeFor(accept);
    return { contentType, text: await render(aggregate([own, ...living, this.#ended.snapshot()]), contentType) };
  }
}
