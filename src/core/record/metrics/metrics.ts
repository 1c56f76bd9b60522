import { GATEWAY_METRICS } from './gateway-metrics.ts';
import { LIBRARY_METRICS } from './library-metrics.ts';
import { CounterFamily, GaugeFamily, HistogramFamily, type AnyFamily } from './families.ts';
import type { MetricSpec } from './metric-spec.ts';
import { UPSTREAM_METRICS } from './upstream-metrics.ts';

/**
 * Every metric of the core. Rules, also for those of add-ons (checked by metrics.test.ts): prefix, base units in the name, `_total` on counters
 * only, always the same labels (`''` for an unknown value), no label that a client can write freely. Labels `provider`
 * (catalog slug), `request_model` (see catalog/model-labels.ts) and `operation` belong together.
 */
export const METRICS = {
  ...GATEWAY_METRICS,
  ...UPSTREAM_METRICS,
  ...LIBRARY_METRICS,
} satisfies Record<string, MetricSpec>;

export type MetricRows = Readonly<Record<string, MetricSpec>>;

const rowsOfAddOns: Record<string, MetricSpec> = {};

/** Called while an add-on is registered, before any family is opened. An add-on counts what its rows count. */
export const addMetrics = (rows: MetricRows): void => void Object.assign(rowsOfAddOns, rows);

/** The rows of the core, then those of the add-ons. */
export const allMetrics = (): MetricRows => ({ ...METRICS, ...rowsOfAddOns });

type FamilyOf<Spec extends MetricSpec> = {
  counter: CounterFamily<Spec['labels'][number]>;
  gauge: GaugeFamily<Spec['labels'][number]>;
  histogram: HistogramFamily<Spec['labels'][number]>;
}[Spec['type']];
export type FamiliesOf<R extends MetricRows> = { readonly [K in keyof R]: FamilyOf<R[K]> };
export type Families = FamiliesOf<typeof METRICS>;

/**
 * Creates all families, empty. Apart from the registry that prints them: code that only counts, such as explain, loads no prom-client.
 * @param now monotonic milliseconds. Default: time stands still, and every series stays
 */
export function openFamilies(now?: () => number): Families {
  let overflow: CounterFamily<'metric'> | undefined;
  const open = (spec: MetricSpec): AnyFamily => openFamily(spec, () => overflow?.add({ metric: spec.name }), now);
  // Each family has its spec's labels, which the type of fromEntries cannot express.
  const families = Object.fromEntries(
    Object.entries(allMetrics()).map(([key, spec]) => [key, open(spec)]),
  ) as unknown as Families;
  overflow = families.labelOverflow;
  return families;
}

export function openFamily(spec: MetricSpec, onOverflow: () => void, now?: () => number): AnyFamily {
  if (spec.type === 'counter') return new CounterFamily(spec, onOverflow, now);
  if (spec.type === 'gauge') return new GaugeFamily(spec, onOverflow, now);
  return new HistogramFamily(spec, onOverflow, now);
}

/** The families of an add-on's rows, which are open beside those of the core. */
export const familiesOf = <R extends MetricRows>(families: Families, rows: R): FamiliesOf<R> =>
  Object.fromEntries(Object.entries<AnyFamily>(families).filter(([key]) => key in rows)) as unknown as FamiliesOf<R>;
