import type { MetricOptions, PluginMetrics } from '../../plugin/services.ts';
import type { AnyFamily, CounterFamily, GaugeFamily, HistogramFamily } from '../record/metrics/families.ts';
import { DURATION_BUCKETS, type MetricSpec } from '../record/metrics/metric-spec.ts';

/** Opens the family of a metric, which outlives snapshots; a dry run has none. Throws TypeError for a metric of another plugin. */
export type OpenMetric = (spec: MetricSpec) => AnyFamily | undefined;

const MAX_SERIES = 100;
const MAX_METRICS = 50;
const MAX_LABELS = 8;
const MAX_BUCKETS = 30;
const NAME = /^[a-z][a-z0-9_]{0,59}$/;

type Options = MetricOptions<string> & { readonly buckets?: readonly number[] };
type Labels = Readonly<Record<string, string>>;

interface FamilyOf {
  readonly counter: CounterFamily<string>;
  readonly gauge: GaugeFamily<string>;
  readonly histogram: HistogramFamily<string>;
}

/** The metrics of one plugin. Throws TypeError for a declaration, or labels, that break the rules. */
export class OwnMetrics implements PluginMetrics {
  readonly #prefix: string;
  readonly #open: OpenMetric | undefined;
  readonly #names = new Set<string>();

  constructor(plugin: string, open: OpenMetric | undefined) {
    this.#prefix = `plugin_${plugin.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_')}_`;
    this.#open = open;
  }

  counter(name: string, options: Options = {}) {
    const { family, checked } = this.#declare('counter', `${name}_total`, options);
    return { add: (labels: Labels, value = 1) => family?.add(checked(labels), value) };
  }

  gauge(name: string, options: Options = {}) {
    const { family, checked } = this.#declare('gauge', name, options);
    return { set: (labels: Labels, value: number) => family?.set(checked(labels), value) };
  }

  histogram(name: string, options: Options = {}) {
    const { family, checked } = this.#declare('histogram', name, options);
    return { observe: (labels: Labels, value: number) => family?.add(checked(labels), value) };
  }

  #declare<T extends keyof FamilyOf>(type: T, own: string, options: Options) {
    const { labels = [], help = own, buckets = DURATION_BUCKETS } = options;
    const name = this.#prefix + own;
    if (!NAME.test(own)) throw new TypeError(`"${own}" is no name of a metric: lower-case letters, digits and _`);
    if (labels.length > MAX_LABELS || labels.some((label) => !NAME.test(label) || label === 'le'))
      throw new TypeError(`the labels of ${name} are at most ${MAX_LABELS} names of lower-case letters, digits and _`);
    if (type === 'histogram' && !areBuckets(buckets))
      throw new TypeError(`the buckets of ${name} are at most ${MAX_BUCKETS} numbers, ascending`);
    if (this.#names.add(name).size > MAX_METRICS) throw new TypeError(`a plugin has at most ${MAX_METRICS} metrics`);
    const spec = { type, name, help, labels, maxSets: MAX_SERIES, ...(type === 'histogram' && { buckets }) };
    // The spec's type decides the class of its family.
    return { family: this.#open?.(spec) as FamilyOf[T] | undefined, checked: checkLabels(name, labels) };
  }
}

const areBuckets = (buckets: readonly number[]): boolean =>
  buckets.length <= MAX_BUCKETS &&
  buckets.every((bound, index) => Number.isFinite(bound) && (index === 0 || bound > buckets[index - 1]!));

/** Labels that were not declared would be dropped in silence, and missing ones would be `undefined`. */
const checkLabels =
  (name: string, declared: readonly string[]) =>
  (labels: Labels = {}): Labels => {
    const given = Object.keys(labels);
    if (given.length !== declared.length || declared.some((label) => typeof labels[label] !== 'string'))
      throw new TypeError(`${name} has the labels [${declared.join(', ')}], and was given [${given.join(', ')}]`);
    return labels;
  };
