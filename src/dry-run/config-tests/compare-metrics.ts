import type { TestMetric } from '../../../schemas/types.generated.ts';
import { meant, type Mismatch } from './differences.ts';
import type { MetricOutcome } from './outcome.ts';

const MOST_LISTED = 4;

/** Checks that every expected counter was incremented: by the given value, or by any. */
export function compareMetrics(expected: readonly TestMetric[], got: readonly MetricOutcome[]): readonly Mismatch[] {
  return expected.flatMap((metric, index) =>
    compareMetric(metric, got).map((one) => ({ ...one, path: ['metrics', index, ...one.path] })),
  );
}

function compareMetric({ name, labels = {}, value }: TestMetric, got: readonly MetricOutcome[]): readonly Mismatch[] {
  const same = got.filter((metric) => metric.name === name);
  if (same.length === 0) {
    if (value === 0) return [];
    const counted = new Set(got.map((metric) => metric.name));
    return [{ path: ['name'], message: `\`${name}\` was not incremented`, ...meant(name, counted) }];
  }
  const fitting = same.filter((metric) => Object.entries(labels).every(([key, text]) => metric.labels[key] === text));
  const sum = fitting.reduce((total, one) => total + one.value, 0);
  if (value === undefined ? sum > 0 : sum === value) return [];
  const wanted = value === undefined ? 'more than 0' : String(value);
  // With other labels only, the labels are the mismatch.
  if (fitting.length === 0) return [{ path: ['labels'], expected: shown({ labels }, wanted), got: listed(same) }];
  return [{ path: value === undefined ? [] : ['value'], expected: wanted, got: `${sum}: ${listed(fitting)}` }];
}

function listed(metrics: readonly MetricOutcome[]): string {
  const shownOnes = metrics.slice(0, MOST_LISTED).map((one) => shown(one, String(one.value)));
  const more = metrics.length - shownOnes.length;
  return [...shownOnes, ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
}

/** In the notation of /metrics. */
function shown({ labels }: Pick<MetricOutcome, 'labels'>, value: string): string {
  const pairs = Object.entries(labels).map(([key, text]) => `${key}=${JSON.stringify(text)}`);
  return `{${pairs.join(',')}} ${value}`;
}
