import { Registry, type Metric, type OpenMetricsContentType, type PrometheusContentType } from 'prom-client';

/** One metric of one process at one moment, as prom-client's registries tell it. */
export interface FamilySnapshot {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly aggregator: string;
  readonly values: readonly SampleSnapshot[];
  /** Last samples of series that have just left, see `Family.get`. */
  readonly retired?: readonly SampleSnapshot[];
}

export interface SampleSnapshot {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  /** Of histograms: which of their series it is. */
  readonly metricName?: string;
}

/**
 * Sums are taken of whole millionths (2⁻²⁰), which a double adds without rounding up to eight thousand million: then the order in
 * which processes are added cannot matter. With rounding, a sum may come out one bit smaller when a process has died and stands
 * elsewhere in it, and Prometheus would take that for a counter that began anew.
 */
const STEPS = 2 ** 20;
const steps = (value: number): number =>
  Number.isSafeInteger(value) || !Number.isFinite(value) ? value : Math.round(value * STEPS) / STEPS;

type Combine = (values: readonly number[]) => number;

const sum: Combine = (values) => values.reduce((total, value) => total + steps(value), 0);
const COMBINE: Readonly<Record<string, Combine>> = {
  sum,
  min: (values) => Math.min(...values),
  max: (values) => Math.max(...values),
  first: ([first = 0]) => first,
  average: (values) => sum(values) / values.length,
};

/** Does not decrease while a process lives, and must not when one dies. */
export const isCumulative = ({ type }: { readonly type: string }): boolean =>
  type === 'counter' || type === 'histogram';

/** Several processes told as one: each metric by its own aggregator, label set by label set. `omit` leaves a metric out. */
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
  const values = [...series.values()].map((samples) => ({
    ...samples[0]!,
    value: combined(samples.map(({ value }) => value)),
  }));
  return { ...first, values };
}

/** Of a counter or a histogram: exact in whichever order. */
export const addSamples = (one: SampleSnapshot, other: SampleSnapshot): SampleSnapshot => ({
  ...one,
  value: steps(one.value) + steps(other.value),
});

/** Processes write the labels of a metric in the same order. */
export const seriesOf = ({ metricName = '', labels }: SampleSnapshot): string =>
  [metricName, ...Object.entries(labels).flat()].join('\u0000');

/** A registry made for one scrape: printing OpenMetrics changes the names it holds (see registry.ts). */
export function render(
  families: readonly FamilySnapshot[],
  contentType: PrometheusContentType | OpenMetricsContentType,
): Promise<string> {
  const registry = new Registry<PrometheusContentType | OpenMetricsContentType>();
  registry.setContentType(contentType);
  for (const family of families) {
    const metric = { ...family, get: () => ({ ...family, name: metric.name }) };
    // As with the families of registry.ts: only these fields are asked for.
    registry.registerMetric(metric as unknown as Metric);
  }
  return registry.metrics();
}
