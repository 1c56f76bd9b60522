import { aggregate, isCumulative, render, type FamilySnapshot } from '../../telemetry/aggregate.ts';
import { contentTypeFor, type Metrics } from '../../telemetry/registry.ts';
import type { ToPrimary } from './ipc.ts';

type Families = readonly FamilySnapshot[];

type MetricsTold = Pick<Extract<ToPrimary, { readonly type: 'metrics' }>, 'families' | 'which'>;

interface Told {
  /** As of the latest message. */
  cumulative: Families;
  /** As of the latest full answer. */
  others: Families;
}

const NOTHING: Families = [];

/**
 * The metrics of several processes as those of one. What a worker has counted stays when it dies: its last counters and
 * histograms move into a sum of the dead, so that no counter goes back. Its gauges go with it.
 */
export class CrewMetrics {
  readonly #own: Pick<Metrics, 'snapshot'>;
  readonly #told = new Map<number, Told>();
  #dead: Families = NOTHING;

  constructor(own: Pick<Metrics, 'snapshot'>) {
    this.#own = own;
  }

  /** Each message is newer than the one before it. */
  heard(worker: number, { families, which }: MetricsTold): void {
    const told = this.#told.get(worker) ?? { cumulative: NOTHING, others: NOTHING };
    this.#told.set(worker, told);
    const workers = families.filter(({ aggregator }) => aggregator !== 'primary');
    told.cumulative = workers.filter((family) => isCumulative(family));
    if (which === 'all') told.others = workers.filter((family) => !isCumulative(family));
  }

  /** The worker has ended, and nothing of it is still on its way. */
  ended(worker: number): void {
    const told = this.#told.get(worker);
    if (!told) return;
    this.#told.delete(worker);
    this.#dead = aggregate([this.#dead, told.cumulative]);
  }

  /** From what has been told so far: ask the workers first. */
  async scrape(accept: string | undefined): Promise<{ readonly contentType: string; readonly text: string }> {
    const own = await this.#own.snapshot('all');
    const living = [...this.#told.values()].flatMap(({ cumulative, others }) => [cumulative, others]);
    const contentType = contentTypeFor(accept);
    return { contentType, text: await render(aggregate([own, ...living, this.#dead]), contentType) };
  }
}
