import type { TestExpectation } from '../../schemas/types.generated.ts';
import { METRICS, type MetricSpec } from '../telemetry/metrics.ts';
import type { Finding } from './check-tests.ts';
import { meant } from './differences.ts';

const ALL: readonly MetricSpec[] = Object.values(METRICS);
const COUNTERS = ALL.filter(({ type }) => type === 'counter');

/** What no counter is called is never counted up: a case that expects `value: 0` of it could not fail. */
export function checkMetrics({ metrics = [] }: TestExpectation): readonly Finding[] {
  return metrics.flatMap(({ name, labels = {} }, index): readonly Finding[] => {
    const path = ['expect', 'metrics', index];
    const spec = ALL.find((one) => one.name === name);
    if (spec?.type !== 'counter') return [{ path: [...path, 'name'], ...noCounter(name, spec) }];
    return Object.keys(labels)
      .filter((label) => !spec.labels.includes(label))
      .map((label) => ({
        path: [...path, 'labels', label],
        on: 'key',
        message: `\`${name}\` has no label \`${label}\``,
        ...meant(label, spec.labels),
      }));
  });
}

function noCounter(name: string, spec: MetricSpec | undefined): Omit<Finding, 'path'> {
  if (spec) return { message: `\`${name}\` is a ${spec.type}: only counters can be expected` };
  const known = COUNTERS.map((counter) => counter.name);
  return { message: `there is no counter \`${name}\``, ...meant(name, known) };
}
