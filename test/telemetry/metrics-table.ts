/**
 * The table of metrics in the README of the telemetry plugin. `node test/telemetry/metrics-table.ts` writes it anew;
 * metrics-table.test.ts compares.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_TYPES } from '../../src/core/record/error-types.ts';
import { labelsOf, type MetricSpec } from '../../src/core/record/metrics/metric-spec.ts';
import { allMetrics } from '../../src/core/record/metrics/metrics.ts';

export const README = join(import.meta.dirname, '../../plugins/telemetry/README.md');

const HEAD = '| Metric | Type | Labels | Meaning |\n|---|---|---|---|\n';
const quoted = (words: readonly string[]): string => words.map((word) => `\`${word}\``).join(', ');
const rowOf = (spec: MetricSpec): string =>
  `| \`${spec.name}\` | ${spec.type} | ${quoted(labelsOf(spec))} | ${spec.help} |\n`;

/** The README with the table and the list of error types made anew. */
export function withMetrics(readme: string): string {
  const [before, rest] = readme.split(HEAD);
  const after = rest?.replace(/^(?:\| .*\n)*/, '');
  if (before === undefined || rest === undefined || after === undefined)
    throw new Error(`${README} has no table of metrics:\n${HEAD}`);
  // A row keeps its place, whichever folder declares it; a new one follows the row before it.
  let last = 0;
  const placed = Object.values(allMetrics()).map((spec) => {
    const at = rest.indexOf(`| \`${spec.name}\` |`);
    last = at < 0 ? last + 0.5 : at;
    return { spec, last };
  });
  const specs = placed.toSorted((one, other) => one.last - other.last).map(({ spec }) => spec);
  const rows = specs.map(rowOf).join('');
  return `${before}${HEAD}${rows}${after}`.replace(
    /(?<=^`error_type` is one of ).*(?=, and empty on success\.$)/m,
    quoted(ERROR_TYPES),
  );
}

if (import.meta.main) writeFileSync(README, withMetrics(readFileSync(README, 'utf8')));
