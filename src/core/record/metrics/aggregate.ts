import { Registry, type Metric, type OpenMetricsContentType, type PrometheusContentType } from 'prom-client';
import { MOST, type ExemplarSample } from './series.ts';

/** One metric of one process at one time, in the form of prom-client's registries. */
export interface FamilySnapshot {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly aggregator: string;
  readonly values: readonly SampleSnapshot[];
  /** Last samples of series that were just removed, see `Family.get`. */
  readonly retired?: readonly SampleSnapshot[];
}

export interface SampleSnapshot {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  /** For histograms: the name of the series. */
  readonly metricName?: string;
  readonly exemplar?: ExemplarSample;
}

/**
 * Sums are taken of multiples of 2⁻²⁰, which a double adds exactly up to eight thousand million, in any order. A
 * rounded sum could shrink by one bit when a process dies, and Prometheus would take that for a reset.
 */
const STEPS = 2 ** 20;
const steps = (value: number): number =>
  Number.isSafeInteger(value) || !Number.isFinite(value) ? value : Math.round(value * STEPS) / STEPS;

type Combine = (values: readonly number[]) => number;

const sum: Combine = (values) =>
  Math.min(
    MOST,
    values.reduce((total, value) => total + steps(value), 0),
  );
const COMBINE: Readonly<Record<string, Combine>> = {
  sum,
  min: (values) => Math.min(...values),
  max: (values) => Math.max(...values),
  first: ([first = 0]) => first,
  average: (values) => sum(values) / values.length,
};

/** Counters and histograms: they never decrease while a process lives, and must not decrease when one dies. */
export const isCumulative = ({ type }: { readonly type: string }): boolean =>
  type === 'counter' || type === 'histogram';

/** Merges the metrics of several processes, each label set by its metric's aggregator; `omit` drops a metric. */
export function aggregate(processes: readonly (readonly FamilySnapshot[])[]): readonly FamilySnapshot[] {
  const byName = Map.groupBy(processes.flat(), ({ name }) => name);
  return [...byName.values()].flatMap((families) => combine(families) ?? []);
}

function combine(families: readonly FamilySnapshot[]): FamilySnapshot | undefined {
  const [first] = families;
  if (!first || first.aggregator === 'omit') return undefined;
  const combined = COMBINE[first.aggregator] ?? sum;
  const series = Map.groupBy(
    families.flatMap(({ values }) => values),
    seriesOf,
  );
  const values = [...series.values()].map((samples) => withLatestExemplar(samples, combined(samples.map(valueOf))));
  return { ...first, values };
}

const valueOf = ({ value }: SampleSnapshot): number => value;

function withLatestExemplar(samples: readonly SampleSnapshot[], value: number): SampleSnapshot {
  const latest = samples.reduce<ExemplarSample | undefined>(
    (newest, { exemplar }) => (exemplar && exemplar.timestamp > (newest?.timestamp ?? 0) ? exemplar : newest),
    undefined,
  );
  return { ...samples[0]!, value, ...(latest && { exemplar: latest }) };
}

/** Adds samples of a counter or a histogram; the result does not depend on the order. */
export const addSamples = (one: SampleSnapshot, other: SampleSnapshot): SampleSnapshot => ({
  ...one,
  value: steps(one.value) + steps(other.value),
});

/** Processes write the labels of a metric in the same order. */
export const seriesOf = ({ metricName = '', labels }: SampleSnapshot): string =>
  [metricName, ...Object.entries(labels).flat()].join('\u0000');

/** Renders with a registry of its own, because printing OpenMetrics changes the names it holds (see registry.ts). */
export function render(
  families: readonly FamilySnapshot[],
  contentType: PrometheusContentType | OpenMetricsContentType,
): Promise<string> {
  const registry = new Registry<PrometheusContentType | OpenMetricsContentType>();
  registry.setContentType(contentType);
  for (const family of families) {
    const metric = { ...family, get: () => ({ ...family, name: metric.name }) };
    // The registry reads only these fields, as with the families of registry.ts.
    registry.registerMetric(metric as unknown as Metric);
  }
  return registry.metrics();
}
