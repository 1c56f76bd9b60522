import { CounterFamily, GaugeFamily, HistogramFamily } from './families.ts';
import type { MetricSpec } from './metric-spec.ts';
import { METRICS, type MetricKey } from './metrics.ts';

// Separate from the registry that prints them, so that code that only counts, such as explain, does not load
// prom-client.

type LabelOf<K extends MetricKey> = (typeof METRICS)[K]['labels'][number];
type FamilyOf<K extends MetricKey> = {
  counter: CounterFamily<LabelOf<K>>;
  gauge: GaugeFamily<LabelOf<K>>;
  histogram: HistogramFamily<LabelOf<K>>;
}[(typeof METRICS)[K]['type']];
/** All metrics of requests, by their key. */
export type Families = { readonly [K in MetricKey]: FamilyOf<K> };

/**
 * Creates all families, empty.
 * @param now monotonic milliseconds. Default: time stands still, and every series stays
 */
export function openFamilies(now?: () => number): Families {
  let overflow: CounterFamily<'metric'> | undefined;
  const open = (spec: MetricSpec): CounterFamily<string> | GaugeFamily<string> | HistogramFamily<string> => {
    const onOverflow = (): void => overflow?.add({ metric: spec.name });
    if (spec.type === 'counter') return new CounterFamily(spec, onOverflow, now);
    if (spec.type === 'gauge') return new GaugeFamily(spec, onOverflow, now);
    return new HistogramFamily(spec, onOverflow, now);
  };
  // Each family has its spec's labels, which the type of fromEntries cannot express.
  const families = Object.fromEntries(
    Object.entries(METRICS).map(([key, spec]) => [key, open(spec)]),
  ) as unknown as Families;
  overflow = families.labelOverflow;
  return families;
}
