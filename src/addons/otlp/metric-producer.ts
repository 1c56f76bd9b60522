import { ValueType, type HrTime } from '@opentelemetry/api';
import type { InstrumentationScope } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  DataPointType,
  type CollectionResult,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import type { Clock } from '../../plugin/index.ts';
import { timeOf } from './spans/request-spans.ts';
import type { AnyFamily } from '../../core/record/metrics/families.ts';
import {
  HistogramSeries,
  type CounterSeries,
  type GaugeSeries,
  type Series,
} from '../../core/record/metrics/series.ts';

interface FamilyProducerOptions {
  readonly families: () => readonly AnyFamily[];
  readonly scope: InstrumentationScope;
  readonly resource: Resource;
  /** Counts ended requests that still wait. */
  readonly flush: () => void;
  readonly clock: Pick<Clock, 'wall'>;
}

/** By the end of a metric's name, where its row has none. */
const UNITS: readonly (readonly [end: string, unit: string])[] = [
  ['_seconds', 's'],
  ['_seconds_total', 's'],
  ['_bytes', 'By'],
  ['_bytes_total', 'By'],
];

/** Reads the values that requests were counted in, so that an export adds no work to a request. */
export class FamilyProducer implements MetricProducer {
  readonly #options: FamilyProducerOptions;
  /** The start of each series: the collection before the first one that had it. */
  readonly #starts = new WeakMap<Series, HrTime>();
  #collectedAt: HrTime;

  constructor(options: FamilyProducerOptions) {
    this.#options = options;
    this.#collectedAt = timeOf(options.clock.wall());
  }

  collect(): Promise<CollectionResult> {
    const { families, scope, resource, flush, clock } = this.#options;
    flush();
    const now = timeOf(clock.wall());
    const metrics = families().flatMap((family) => this.#dataOf(family, now) ?? []);
    this.#collectedAt = now;
    return Promise.resolve({ resourceMetrics: { resource, scopeMetrics: [{ scope, metrics }] }, errors: [] });
  }

  #dataOf(family: AnyFamily, endTime: HrTime): MetricData | undefined {
    const { spec } = family;
    const series: readonly Series[] = [...family.series];
    if (series.length === 0) return undefined;
    const base = {
      descriptor: { name: spec.name, description: spec.help, unit: unitOf(spec), valueType: ValueType.DOUBLE },
      aggregationTemporality: AggregationTemporality.CUMULATIVE,
    };
    const place = (one: Series) => ({ startTime: this.#startOf(one), endTime, attributes: withoutEmpty(one.labels) });
    if (spec.type === 'histogram')
      return {
        ...base,
        dataPointType: DataPointType.HISTOGRAM,
        dataPoints: series.flatMap((one) =>
          one instanceof HistogramSeries ? { ...place(one), value: one.histogram } : [],
        ),
      };
    // Every other series has one value.
    const dataPoints = series.map((one) => ({ ...place(one), value: (one as CounterSeries | GaugeSeries).value }));
    return spec.type === 'counter'
      ? { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
      : { ...base, dataPointType: DataPointType.GAUGE, dataPoints };
  }

  #startOf(series: Series): HrTime {
    let start = this.#starts.get(series);
    if (!start) this.#starts.set(series, (start = this.#collectedAt));
    return start;
  }
}

/** Not `1` for counts: collectors append `_ratio` to gauges of that unit. */
const unitOf = ({ name, unit }: AnyFamily['spec']): string =>
  unit ?? UNITS.find(([end]) => name.endsWith(end))?.[1] ?? '';

/** Prometheus takes an empty label for an absent one; OpenTelemetry does not. */
const withoutEmpty = (labels: Series['labels']): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== ''));
