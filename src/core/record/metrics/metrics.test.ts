import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { createStillClock, WALL } from '../exchange.testkit.ts';
import { CounterFamily, GaugeFamily, HistogramFamily, MAX_LABEL_SETS, SERIES_IDLE_MS } from './families.ts';
import { OTHER, type MetricSpec } from './metric-spec.ts';
import { allMetrics, METRICS } from './metrics.ts';
import { createMetrics, type Metrics } from './registry.ts';

const specs: readonly (readonly [string, MetricSpec])[] = Object.values(allMetrics()).map((spec) => [spec.name, spec]);

function openMetrics(process = false): Metrics {
  return createMetrics({
    clock: createStillClock(),
    build: { version: '0.1.0', revision: 'abc' },
    process,
  });
}

const seriesOf = (text: string, name: string): string[] =>
  text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));

// promtool is part of Debian's package `prometheus`.
const promtool = 'promtool';

describe('the metric table', () => {
  it.each(specs)('%s follows the naming rules', (name, { type, help, labels, byCaller, buckets, zero = [] }) => {
    expect(name).toMatch(/^gatehouse_[a-z][a-z0-9]*(_[a-z0-9]+)*$/);
    expect(help.length).toBeGreaterThan(10);
    expect(name.endsWith('_total'), '_total is for counters only').toBe(type === 'counter');
    expect(name).not.toMatch(/_(ms|milliseconds|microseconds|minutes|kb|mb|count|sum|bucket)(_|$)/);
    if (type === 'histogram') {
      expect(name, 'a histogram names its unit').toMatch(/_(seconds|bytes|tokens|usd)$/);
      expect(buckets, 'bounds ascend').toEqual([...new Set(buckets)].sort((a, b) => a - b));
    } else expect(buckets).toBeUndefined();
    if (/duration|latency|overhead|time(stamp)?_/.test(name)) expect(name).toMatch(/_seconds$/);
    for (const label of labels) expect(label).toMatch(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/);
    expect(labels).not.toContain('le');
    const ofZero = new Set(zero.flatMap((set) => Object.keys(set)));
    if (zero.length > 0) expect([...ofZero].toSorted(), 'a series at zero has all labels').toEqual(labels.toSorted());
    // A value that a client can choose freely, or that is unique per request, is not a label. Two kinds are bounded, and
    // counters with `byCaller` have them: ids of keys (keys.yaml has them all) and chosen metadata (at most 100 values).
    expect(labels.filter((label) => /(^|_)(id|key|path|user|agent|ip|message|metadata)(_|$)/.test(label))).toEqual([]);
    // 1,000 label sets of a histogram block the event loop for 330 ms a scrape.
    if (byCaller) expect(type, 'only counters are divided by callers').toBe('counter');
  });

  it('divides requests, tokens, costs and errors by callers, and nothing else', () => {
    expect(specs.flatMap(([, spec]) => (spec.byCaller ? [spec.name] : [])).toSorted()).toEqual([
      'gatehouse_audio_seconds_total',
      'gatehouse_cache_saved_nano_usd_total',
      'gatehouse_cost_nano_usd_total',
      'gatehouse_cost_unknown_total',
      'gatehouse_requests_rejected_total',
      'gatehouse_requests_total',
      'gatehouse_tokens_total',
      'gatehouse_upstream_attempts_total',
      'gatehouse_usage_units_total',
    ]);
  });

  it('has whole bounds that are powers of four, not rounded to six digits', () => {
    expect(METRICS.requestBodyBytes.buckets!.at(-1)).toBe(64 * 1024 * 1024);
    expect(METRICS.requestTokens.buckets!.at(-1)).toBe(1024 * 1024);
    expect(METRICS.requestDuration.buckets!.at(3)).toBe(0.08);
  });

  it('has no name twice', () => {
    expect(new Set(specs.map(([name]) => name)).size).toBe(specs.length);
  });
});

describe('the registry', () => {
  it('starts known outcomes at zero, so that a rate exists before the first failure', async () => {
    const { text } = await openMetrics().scrape(undefined);
    expect(text).toContain('gatehouse_request_errors_total{code="overloaded"} 0\n');
    expect(text).toContain('gatehouse_limit_refusals_total{limit="in_flight",action="refused"} 0\n');
    expect(text).toContain('gatehouse_metric_label_overflow_total{metric="gatehouse_tokens_total"} 0\n');
    expect(text).toContain(
      `gatehouse_build_info{version="0.1.0",node_version="${process.version}",revision="abc"} 1\n`,
    );
  });

  it('records the size and evictions of the reply cache', async () => {
    const { replyCache, scrape } = openMetrics();
    replyCache.onChange({ entries: 3, bytes: 4096 });
    replyCache.onEvict();
    const { text } = await scrape(undefined);
    expect(seriesOf(text, 'gatehouse_cache_entries')).toEqual(['gatehouse_cache_entries 3']);
    expect(seriesOf(text, 'gatehouse_cache_size_bytes')).toEqual(['gatehouse_cache_size_bytes 4096']);
    expect(seriesOf(text, 'gatehouse_cache_evictions_total')).toEqual(['gatehouse_cache_evictions_total 1']);
    expect(seriesOf(text, 'gatehouse_cache_requests_total')).toContain(
      'gatehouse_cache_requests_total{mode="exact",result="shared"} 0',
    );
  });

  it('records the size of the store of files', async () => {
    const { filesCounted, scrape } = openMetrics();
    filesCounted({ files: 2, bytes: 1000 });
    const { text } = await scrape(undefined);
    expect(seriesOf(text, 'gatehouse_stored_files')).toEqual(['gatehouse_stored_files 2']);
    expect(seriesOf(text, 'gatehouse_stored_file_bytes')).toEqual(['gatehouse_stored_file_bytes 1000']);
  });

  it('records the current settings and whether the last load failed', async () => {
    const metrics = openMetrics();
    metrics.settingsLoaded('aaaa', ['vertex-eu']);
    metrics.settingsLoaded('bbbb', ['vertex-eu']);
    metrics.settingsRefused();
    metrics.families.tokenRefreshes.add({ provider: 'vertex-eu', result: 'failure' });
    const { text } = await metrics.scrape(undefined);
    expect(seriesOf(text, 'gatehouse_config_info')).toEqual(['gatehouse_config_info{config_hash="bbbb"} 1']);
    expect(seriesOf(text, 'gatehouse_config_last_reload_successful')).toEqual([
      'gatehouse_config_last_reload_successful 0',
    ]);
    expect(seriesOf(text, 'gatehouse_config_last_reload_success_timestamp_seconds')).toEqual([
      `gatehouse_config_last_reload_success_timestamp_seconds ${WALL / 1000}`,
    ]);
    expect(seriesOf(text, 'gatehouse_config_reloads_total')).toEqual([
      'gatehouse_config_reloads_total{result="success"} 2',
      'gatehouse_config_reloads_total{result="failure"} 1',
    ]);
    expect(seriesOf(text, 'gatehouse_oauth_token_refreshes_total')).toEqual([
      'gatehouse_oauth_token_refreshes_total{provider="vertex-eu",result="success"} 0',
      'gatehouse_oauth_token_refreshes_total{provider="vertex-eu",result="failure"} 1',
    ]);
  });

  it('serves OpenMetrics on request, without changing the names in later text scrapes', async () => {
    const metrics = openMetrics(true);
    const before = await metrics.scrape('text/plain');
    const open = await metrics.scrape(
      'application/openmetrics-text;version=1.0.0;q=0.75,text/plain;version=0.0.4;q=0.5',
    );
    const after = await metrics.scrape(undefined);
    expect(open.contentType).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    expect(open.text).toContain('# TYPE gatehouse_requests counter\n');
    expect(open.text).toContain('gatehouse_request_errors_total{code="overloaded"} 0\n');
    expect(open.text.endsWith('# EOF\n')).toBe(true);
    expect(after.contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(namesOf(after.text)).toEqual(namesOf(before.text));
  });

  it('gives each of several concurrent scrapes its requested format', async () => {
    const metrics = openMetrics();
    const accepts = ['application/openmetrics-text', undefined, 'application/openmetrics-text', 'text/plain'];
    const scrapes = await Promise.all(accepts.map((accept) => metrics.scrape(accept)));
    expect(scrapes.map(({ text }) => text.endsWith('# EOF\n'))).toEqual([true, false, true, false]);
    expect(scrapes.map(({ text }) => text.includes('\n# TYPE gatehouse_requests_total counter\n'))).toEqual([
      false,
      true,
      false,
      true,
    ]);
  });

  it('omits the process metrics that promtool rejects', async () => {
    const { text } = await openMetrics(true).scrape(undefined);
    expect(text).toContain('nodejs_eventloop_lag_p99_seconds');
    expect(text).not.toMatch(/nodejs_active_\w+_total/);
  });

  it.skipIf(spawnSync(promtool, ['--version']).error)('passes promtool check metrics', async () => {
    const metrics = openMetrics(true);
    metrics.families.upstreamDuration.add(
      { provider: 'a', request_model: 'b "quoted" \\ \n', operation: 'chat', outcome: 'success' },
      1,
    );
    const { text } = await metrics.scrape(undefined);
    const check = spawnSync(promtool, ['check', 'metrics'], { input: text, encoding: 'utf8' });
    expect(check.stdout + check.stderr).toBe('');
    expect(check.status).toBe(0);
  });
});

describe('label sets', () => {
  const counterSpec: MetricSpec = { type: 'counter', name: 'gatehouse_x_total', help: 'x', labels: ['a', 'b'] };

  it('beyond the bound count under __other__: sums stay exact and the overflow is counted', async () => {
    let overflows = 0;
    const family = new CounterFamily<'a' | 'b'>(counterSpec, () => (overflows += 1));
    const sent = 5000;
    for (let index = 0; index < sent; index += 1) family.add({ a: `${index}`, b: 'x' });
    family.add({ a: '0', b: 'x' });
    const samples = samplesOf(await family.get());
    expect(samples).toHaveLength(MAX_LABEL_SETS);
    expect(samples.reduce((sum, { value }) => sum + value, 0)).toBe(sent + 1);
    expect(samples.at(-1)).toEqual({ labels: { a: OTHER, b: OTHER }, value: sent - MAX_LABEL_SETS + 1 });
    expect(overflows).toBe(sent - MAX_LABEL_SETS + 1);
  });

  it('of a gauge beyond the bound are dropped and counted as overflow', async () => {
    let overflows = 0;
    const family = new GaugeFamily<'a'>(
      { type: 'gauge', name: 'gatehouse_x', help: 'x', labels: ['a'] },
      () => (overflows += 1),
    );
    for (let index = 0; index < MAX_LABEL_SETS + 10; index += 1) family.set({ a: `${index}` }, 1);
    expect(samplesOf(await family.get())).toHaveLength(MAX_LABEL_SETS);
    expect(overflows).toBe(10);
  });

  it('of a histogram beyond the bound share one distribution', async () => {
    const family = new HistogramFamily<'a'>(
      { type: 'histogram', name: 'gatehouse_x_seconds', help: 'x', labels: ['a'], buckets: [1, 2] },
      () => {},
    );
    for (let index = 0; index < MAX_LABEL_SETS + 10; index += 1) family.add({ a: `${index}` }, 1.5);
    const others = samplesOf(await family.get()).filter(({ labels }) => labels['a'] === OTHER);
    expect(others.map(({ metricName, labels, value }) => [metricName, labels['le'], value])).toEqual([
      ['gatehouse_x_seconds_bucket', 1, 0],
      ['gatehouse_x_seconds_bucket', 2, 11],
      ['gatehouse_x_seconds_bucket', '+Inf', 11],
      ['gatehouse_x_seconds_sum', undefined, 16.5],
      ['gatehouse_x_seconds_count', undefined, 11],
    ]);
  });

  it('are distinguished by every label, for any values', async () => {
    const family = new CounterFamily<'a' | 'b'>(counterSpec, () => {});
    // prom-client's own key of both is `a:x,b:y,b:z,`-like text that values can forge.
    family.add({ a: 'x,b:y', b: 'z' });
    family.add({ a: 'x', b: 'y,b:z' });
    expect(samplesOf(await family.get())).toHaveLength(2);
  });

  it.each([Number.NaN, -1, Infinity])('refuse to count %s, which would corrupt the sum permanently', (value) => {
    const family = new CounterFamily<'a' | 'b'>(counterSpec, () => {});
    expect(() => family.add({ a: '', b: '' }, value)).toThrow('gatehouse_x_total cannot count');
    expect(family.labelSets).toEqual([]);
  });

  it('stay at the most that a number counts exactly', async () => {
    const family = new CounterFamily<'a' | 'b'>(counterSpec, () => {});
    for (const value of [Number.MAX_SAFE_INTEGER, 1e300, 7]) family.add({ a: 'x', b: 'y' }, value);
    expect(samplesOf(await family.get())).toMatchObject([{ value: Number.MAX_SAFE_INTEGER }]);
  });
});

describe('an unused series', () => {
  const spec: MetricSpec = { type: 'counter', name: 'gatehouse_x_total', help: 'x', labels: ['a'] };
  const DAY = SERIES_IDLE_MS;

  it('is removed after a day and restarts at 0, never under __other__', async () => {
    let now = 0;
    const family = new CounterFamily<'a'>(
      spec,
      () => {},
      () => now,
    );
    const reported = async () => samplesOf(await family.get()).map(({ labels, value }) => `${labels['a']} ${value}`);
    family.add({ a: 'idle' }, 7);
    family.add({ a: 'used' }, 1);
    expect(await reported()).toEqual(['idle 7', 'used 1']);
    now = DAY - 1;
    family.add({ a: 'used' }, 1);
    expect(await reported()).toEqual(['idle 7', 'used 2']);
    now = DAY;
    const left = await family.get();
    expect(samplesOf(left)).toEqual([{ labels: { a: 'used' }, value: 2 }]);
    expect('retired' in left && left.retired).toEqual([{ labels: { a: 'idle' }, value: 7 }]);
    family.add({ a: 'idle' }, 1);
    expect(await reported()).toEqual(['used 2', 'idle 1']);
  });

  it('is removed with all of its buckets, and frees its place', async () => {
    let now = 0;
    let overflows = 0;
    const histogram: MetricSpec = {
      type: 'histogram',
      name: 'gatehouse_x_seconds',
      help: 'x',
      labels: ['a'],
      buckets: [1],
    };
    const family = new HistogramFamily<'a'>(
      histogram,
      () => (overflows += 1),
      () => now,
    );
    for (let index = 0; index < MAX_LABEL_SETS - 1; index += 1) family.add({ a: `${index}` }, 1);
    await family.get();
    now = DAY;
    expect(samplesOf(await family.get())).toEqual([]);
    family.add({ a: 'new' }, 0.5);
    expect(samplesOf(await family.get()).map(({ metricName, value }) => [metricName, value])).toEqual([
      ['gatehouse_x_seconds_bucket', 1],
      ['gatehouse_x_seconds_bucket', 1],
      ['gatehouse_x_seconds_sum', 0.5],
      ['gatehouse_x_seconds_count', 1],
    ]);
    expect(overflows).toBe(0);
  });

  it('stays while it is declared', async () => {
    let now = 0;
    const family = new CounterFamily<'a'>(
      spec,
      () => {},
      () => now,
    );
    const reported = async () => samplesOf(await family.get()).map(({ labels }) => labels['a']);
    family.declareOnly([{ a: 'old' }, { a: 'both' }]);
    await reported();
    now = 2 * DAY;
    expect(await reported()).toEqual(['old', 'both']);
    family.declareOnly([{ a: 'both' }, { a: 'new' }]);
    await reported();
    now = 4 * DAY;
    expect(await reported()).toEqual(['both', 'new']);
  });

  it('is never a gauge, whose value stays valid', async () => {
    let now = 0;
    const family = new GaugeFamily<'a'>(
      { ...spec, type: 'gauge' },
      () => {},
      () => now,
    );
    family.set({ a: 'x' }, 1);
    await family.get();
    now = 3 * DAY;
    expect(samplesOf(await family.get())).toHaveLength(1);
  });

  it('leaves the exposition, unlike series declared at the start', async () => {
    const clock = createStillClock();
    const metrics = createMetrics({ clock, build: { version: '1', revision: '' }, process: false });
    const labels = { provider: 'p', request_model: 'gpt-x', operation: 'chat' };
    metrics.families.tokens.add({ ...labels, type: 'input' }, 3);
    metrics.families.requestTokens.add({ ...labels, type: 'input' }, 3);
    const before = (await metrics.scrape(undefined)).text;
    expect(before.match(/gpt-x/g)!.length).toBeGreaterThan(10);
    clock.set(DAY);
    for (const accept of [undefined, 'application/openmetrics-text']) {
      const { text } = await metrics.scrape(accept);
      expect(text).not.toMatch(/gpt-x|retired/);
      expect(text).toContain('gatehouse_request_errors_total{code="overloaded"} 0');
    }
    if (spawnSync(promtool, ['--version']).error) return;
    const check = spawnSync(promtool, ['check', 'metrics'], { input: (await metrics.scrape(undefined)).text });
    expect(check.status).toBe(0);
  });
});

function namesOf(text: string): string[] {
  return text.split('\n').filter((line) => line.startsWith('# TYPE'));
}

interface TestSample {
  readonly labels: Record<string, string | number>;
  readonly value: number;
  readonly metricName?: string;
}
function samplesOf(collected: object): TestSample[] {
  return 'values' in collected && Array.isArray(collected.values) ? (collected.values as TestSample[]) : [];
}
