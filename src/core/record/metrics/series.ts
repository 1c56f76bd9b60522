import type { MetricSpec } from './metric-spec.ts';

type SeriesLabels = Readonly<Record<string, string>>;

export interface MetricSample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName?: string;
  /** Printed in OpenMetrics only. */
  readonly exemplar?: ExemplarSample;
}

/** A request that added to a bucket, by its trace. */
export interface Exemplar {
  readonly traceId: string;
  readonly spanId: string;
  /** Seconds since 1970. */
  readonly at: number;
}

/** An exemplar in the form of prom-client. */
export interface ExemplarSample {
  readonly labelSet: { readonly trace_id: string; readonly span_id: string };
  readonly value: number;
  readonly timestamp: number;
}

export abstract class Series {
  readonly spec: MetricSpec;
  readonly labels: SeriesLabels;
  /** The caller's key; `byCaller` counters alone have it. */
  readonly keyId: string | undefined;
  /** Whether it was used since the last scrape. */
  used = true;
  /** Time of the first scrape after the latest use. */
  usedAt = 0;
  kept = false;
  /** Its metric has it no more: values added to it would be lost. */
  removed = false;

  constructor(spec: MetricSpec, labels: SeriesLabels, keyId: string | undefined) {
    this.spec = spec;
    this.labels = labels;
    this.keyId = keyId;
  }

  /**
   * Adds to a counter or a gauge, or a value to a histogram. Throws as `check` of its kind does.
   * @param exemplar kept by histograms whose row has `exemplars`
   */
  abstract add(value: number, exemplar?: Exemplar): void;
  abstract samples(): MetricSample[];
}

/** The limit of a counter. Adding a small amount to a larger number would not change it. */
export const MOST = Number.MAX_SAFE_INTEGER;

export class CounterSeries extends Series {
  value = 0;

  /** One NaN would make the sum NaN permanently. */
  static check({ name }: MetricSpec, value: number): void {
    if (!(value >= 0 && value < Infinity)) throw new RangeError(`${name} cannot count ${value}`);
  }

  override add(value: number): void {
    if (!(value >= 0 && value < Infinity)) CounterSeries.check(this.spec, value);
    this.used = true;
    this.value = Math.min(this.value + value, MOST);
  }

  override samples(): MetricSample[] {
    return [{ labels: this.labels, value: this.value }];
  }
}

export class GaugeSeries extends Series {
  value = 0;

  static check(): void {}

  override add(value: number): void {
    this.used = true;
    this.value += value;
  }

  override samples(): MetricSample[] {
    return [{ labels: this.labels, value: this.value }];
  }
}

export class HistogramSeries extends Series {
  readonly #bounds: readonly number[];
  /** Per bucket, not cumulative; the last one is +Inf. */
  readonly #counts: Float64Array;
  /** The latest of each bucket. Undefined until there is one. */
  #exemplars: ExemplarSample[] | undefined;
  #sum = 0;

  constructor(spec: MetricSpec, labels: SeriesLabels, keyId: string | undefined) {
    super(spec, labels, keyId);
    this.#bounds = spec.buckets ?? [];
    this.#counts = new Float64Array(this.#bounds.length + 1);
  }

  static check({ name }: MetricSpec, value: number): void {
    if (!Number.isFinite(value)) throw new RangeError(`${name} cannot observe ${value}`);
  }

  override add(value: number, exemplar?: Exemplar): void {
    if (!Number.isFinite(value)) HistogramSeries.check(this.spec, value);
    this.used = true;
    const bounds = this.#bounds;
    let index = 0;
    while (index < bounds.length && value > bounds[index]!) index += 1;
    this.#counts[index]! += 1;
    this.#sum += value;
    if (exemplar !== undefined && this.spec.exemplars) this.#keep(index, value, exemplar);
  }

  #keep(bucket: number, value: number, { traceId, spanId, at }: Exemplar): void {
    this.#exemplars ??= [];
    this.#exemplars[bucket] = { labelSet: { trace_id: traceId, span_id: spanId }, value, timestamp: at };
  }

  /** In the form of OpenTelemetry. */
  get histogram(): {
    readonly buckets: { readonly boundaries: number[]; readonly counts: number[] };
    readonly sum: number;
    readonly count: number;
  } {
    const counts = [...this.#counts];
    return {
      buckets: { boundaries: [...this.#bounds], counts },
      sum: this.#sum,
      count: counts.reduce((sum, count) => sum + count, 0),
    };
  }

  override samples(): MetricSample[] {
    const { labels, spec } = this;
    let count = 0;
    const buckets = [...this.#bounds, '+Inf'].map((le, index): MetricSample => {
      count += this.#counts[index]!;
      const exemplar = this.#exemplars?.[index];
      const sample = { labels: { ...labels, le }, value: count, metricName: `${spec.name}_bucket` };
      return exemplar ? { ...sample, exemplar } : sample;
    });
    return [
      ...buckets,
      { labels, value: this.#sum, metricName: `${spec.name}_sum` },
      { labels, value: count, metricName: `${spec.name}_count` },
    ];
  }
}
