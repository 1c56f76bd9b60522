import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FAILURE_KINDS } from '../../src/plugin/failures.ts';
import { allMetrics } from '../../src/core/record/metrics/metrics.ts';
import { listen, type Listening } from '../telemetry/listen.testkit.ts';
import { startCannedLoad } from './canned-load.ts';
import { hasPrometheus, startPrometheus, type Prometheus } from './prometheus.ts';

const folder = join(import.meta.dirname, '../../configs/observability');
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
const rules = ['recording-rules.yaml', 'alerts.yaml'].map((name) => join(folder, name));

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}
interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly definition?: string }[] };
}
const dashboard = JSON.parse(read('dashboard.json')) as Dashboard;

/** As Grafana writes it for all values of each variable. */
const filledIn = (expression: string): string =>
  expression.replaceAll('$__rate_interval', '1m').replaceAll(/\$\w+/g, '.*');

const panels = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => [title, filledIn(expr)] as const),
);
const variables = dashboard.templating.list.flatMap(({ definition }) => {
  const [, selector] = /^label_values\((.*), \w+\)$/.exec(definition ?? '') ?? [];
  return selector === undefined ? [] : [['a variable', filledIn(selector)] as const];
});
const documented = [...read('README.md').matchAll(/```promql\n(.*?)```/gs)].map(
  ([, query = '']) => ['the README', query.trim()] as const,
);
const expressions = [...panels, ...variables, ...documented];

describe('configs/observability', () => {
  it('names no metric that the gateway has not', () => {
    const known = new Set<string>(Object.values(allMetrics()).map(({ name }) => name));
    const text = ['recording-rules.yaml', 'alerts.yaml', 'dashboard.json', 'README.md'].map(read).join('\n');
    const named = [...text.matchAll(/(?<![:\w])gatehouse_\w+/g)].map(([name]) => name.replace(/_bucket$/, ''));
    expect([...new Set(named)].filter((name) => !known.has(name))).toEqual([]);
    expect(expressions.length).toBeGreaterThan(40);
  });
});

describe.skipIf(!hasPrometheus)('configs/observability with Prometheus (Debian: apt-get install prometheus)', () => {
  it.each([
    ['check', 'rules', '--lint=all', ...rules],
    ['test', 'rules', 'alerts-test.yaml'],
  ])('passes promtool %s %s', (...args) => {
    const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: folder, encoding: 'utf8' });
    expect(stdout + stderr).toContain('SUCCESS');
    expect(status).toBe(0);
  });

  it('has a case for every alert', () => {
    const alerts = [...read('alerts.yaml').matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
    const tested = new Set(
      [...read('alerts-test.yaml').matchAll(/alertname: (\w+)\n +exp_alerts/g)].map(([, name]) => name),
    );
    expect(alerts.filter((name) => !tested.has(name))).toEqual([]);
  });
});

describe.skipIf(!hasPrometheus)('a Prometheus that scrapes a gateway under load', () => {
  let collector: Listening;
  let load: Awaited<ReturnType<typeof startCannedLoad>>;
  let prometheus: Prometheus;

  beforeAll(async () => {
    collector = await listen(
      createServer((request, response) => {
        request.resume();
        request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
      }),
    );
    // The OTLP packages read it from the environment of the process.
    process.env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] = `${collector.url}/v1/traces`;
    load = await startCannedLoad({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces` });
    prometheus = await startPrometheus(load.statusUrl, rules);
    await untilScraped(prometheus);
  }, 60_000);
  afterAll(async () => {
    await load?.close();
    await prometheus?.close();
    await collector?.close();
    delete process.env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
  });

  it.each(expressions)('has a number for %s: %s', async (_, expression) => {
    const samples = await prometheus.query(expression);
    expect(samples.filter(({ value: [, value] }) => value !== 'NaN')).not.toEqual([]);
  });

  it('has counters of errors at 0 for each entry and kind, and for each code, before the first error', async () => {
    const kinds = await prometheus.query('count by (provider) (gatehouse_upstream_failures_total)');
    const all = String(Object.keys(FAILURE_KINDS).length);
    expect(kinds.map(({ metric, value }) => [metric['provider'], value[1]])).toEqual([
      ['openai', all],
      ['sim', all],
    ]);
    expect(await prometheus.query('gatehouse_request_errors_total{code="rate_limit_exceeded"} == 0')).toHaveLength(1);
  });

  it('has exemplars with the ids of traces', async () => {
    for (const metric of [
      'gatehouse_request_duration_seconds_bucket',
      'gatehouse_upstream_request_duration_seconds_bucket',
      'gatehouse_upstream_time_to_first_chunk_seconds_bucket',
    ])
      expect(await prometheus.exemplars(metric), metric).toEqual(
        expect.arrayContaining([expect.stringMatching(/^[0-9a-f]{32}$/)]),
      );
  });

  it('has the recorded rates, and no alert but that of the load’s own failures', async () => {
    const recorded = [...read('recording-rules.yaml').matchAll(/- record: (\S+)/g)].map(([, name = '']) => name);
    const missing = [];
    for (const name of recorded) if ((await prometheus.query(name)).length === 0) missing.push(name);
    expect(missing).toEqual([]);
    const firing = await prometheus.query('ALERTS{alertstate="firing"}');
    expect(new Set(firing.map(({ metric }) => metric['alertname']))).toEqual(
      new Set(['GatehouseErrorBudgetBurnsFast', 'GatehouseCostUnknown']),
    );
  });
});

/** Rates need several scrapes under load, of which rules were made. */
async function untilScraped(prometheus: Prometheus): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    const [scrapes] = await prometheus.query('count_over_time(up{job="gatehouse"}[5m])').catch(() => []);
    if (Number(scrapes?.value[1] ?? 0) >= 6) return;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  throw new Error('Prometheus did not scrape the gateway six times');
}
