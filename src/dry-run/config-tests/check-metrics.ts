import type { TestExpectation } from '../../../schemas/types.generated.ts';
import { ERROR_TYPES } from '../../record/error-types.ts';
import type { MetricSpec } from '../../record/metrics/metric-spec.ts';
import { METRICS } from '../../record/metrics/metrics.ts';
import { CACHE_RESULTS } from '../../record/metrics/upstream-metrics.ts';
import type { CaseFinding } from './finding.ts';
import { meant } from './differences.ts';
import type { Names } from './names.ts';

const ALL: readonly MetricSpec[] = Object.values(METRICS);
const COUNTERS = ALL.filter(({ type }) => type === 'counter');

/**
 * Checks the expected counters. An unknown counter is never incremented, so a case that expects `value: 0` of it could
 * not fail.
 */
export function checkMetrics({ metrics = [] }: TestExpectation, names: Names): readonly CaseFinding[] {
  return metrics.flatMap(({ name, labels = {} }, index): readonly CaseFinding[] => {
    const path = ['expect', 'metrics', index];
    const spec = ALL.find((one) => one.name === name);
    if (spec?.type !== 'counter') return [{ path: [...path, 'name'], ...noCounter(name, spec) }];
    return Object.entries(labels).flatMap(([label, text]): readonly CaseFinding[] => {
      const at = [...path, 'labels', label];
      if (spec.labels.includes(label))
        return checkValue({ spec, label, text }, names).map((one) => ({ path: at, ...one }));
      const message = `\`${name}\` has no label \`${label}\``;
      return [{ path: at, on: 'key', message, ...meant(label, spec.labels) }];
    });
  });
}

/** Labels with a closed list of values; any other value is never counted. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  error_type: ['', ...ERROR_TYPES],
  status_class: ['2xx', '3xx', '4xx', '5xx'],
  stream: ['true', 'false'],
  cache: ['', ...CACHE_RESULTS],
  to: ['open', 'half_open', 'closed'],
};
/** Labels of metrics without series at zero. */
const VALUES_IN: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  [METRICS.fallbacks.name]: { reason: ERROR_TYPES },
  [METRICS.upstreamRetries.name]: { reason: [...ERROR_TYPES, 'stale_connection'] },
};
/** The series at zero of a metric have every value of their labels. */
const valuesAtZero = ({ zero = [] }: MetricSpec, label: string): readonly string[] | undefined => {
  const values = new Set(zero.flatMap(({ [label]: value }) => value ?? []));
  return values.size > 0 ? [...values] : undefined;
};
const SLUGS: ReadonlySet<string> = new Set(['provider', 'from_target', 'to_target']);

interface GivenLabel {
  readonly spec: MetricSpec;
  readonly label: string;
  readonly text: string;
}

function checkValue({ spec, label, text }: GivenLabel, { slugs }: Names): readonly Omit<CaseFinding, 'path'>[] {
  const known = VALUES_IN[spec.name]?.[label] ?? VALUES[label] ?? valuesAtZero(spec, label);
  if (known && !known.includes(text))
    return [{ message: `\`${label}\` of \`${spec.name}\` is never ${JSON.stringify(text)}`, ...meant(text, known) }];
  if (!SLUGS.has(label) || !text.startsWith('@')) return [];
  const bare = slugs.map((slug) => slug.slice(1));
  return [{ message: `\`${label}\` of a metric is a slug without its \`@\``, ...meant(text.slice(1), bare) }];
}

function noCounter(name: string, spec: MetricSpec | undefined): Omit<CaseFinding, 'path'> {
  if (spec) return { message: `\`${name}\` is a ${spec.type}: only counters can be expected` };
  const known = COUNTERS.map((counter) => counter.name);
  return { message: `there is no counter \`${name}\``, ...meant(name, known) };
}
