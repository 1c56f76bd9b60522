import { isDeepStrictEqual } from 'node:util';
import {
  collectDefaultMetrics,
  Registry,
  type Metric,
  type OpenMetricsContentType,
  type PrometheusContentType,
} from 'prom-client';
import { FAILURE_KINDS } from '../../../plugin/failures.ts';
import type { Clock } from '../../../plugin/index.ts';
import type { TargetHealth } from '../../kernel/index.ts';
import { isCumulative, type FamilySnapshot } from './aggregate.ts';
import { MAX_LABEL_SETS, type AnyFamily } from './families.ts';
import type { MetricSpec } from './metric-spec.ts';
import { openFamilies, openFamily, type Families } from './metrics.ts';

type AnyRegistry = Registry<PrometheusContentType | OpenMetricsContentType>;
/** The fields of a metric that this module reads, for Gatehouse's and prom-client's metrics. */
interface Collected {
  readonly name: string;
  readonly type: string;
  get(): Promise<FamilySnapshot>;
}

interface MetricsOptions {
  readonly clock: Clock;
  readonly build: { readonly version: string; readonly revision: string };
  /** Event loop, heap, garbage collection, file descriptors. Default true. */
  readonly process?: boolean;
  /** Counts ended requests that still wait; called before metrics are read. */
  readonly flush?: () => void;
}

/** All metrics of the process. One per process: it outlives every snapshot of the settings. */
export interface Metrics extends ReturnType<typeof createRecorders> {
  readonly families: Families;
  readonly flush: () => void;
  /** A family beside those of the table, or the one that is open under this name. Throws TypeError where that one has other labels or another type. */
  open(spec: MetricSpec): AnyFamily;
  /** The exposition in the format that `accept` requests. */
  scrape(accept: string | undefined): Promise<{ readonly contentType: string; readonly text: string }>;
  /** Metrics for another process: all, or only those that must survive this process. */
  snapshot(which: 'all' | 'cumulative'): Promise<readonly FamilySnapshot[]>;
}

const FAILURES = Object.keys(FAILURE_KINDS);

type BreakerState = TargetHealth['state'];

interface TargetLabels {
  readonly config: string;
  readonly target: string;
  readonly name: string;
  readonly provider: string;
}

interface EnforcedTarget extends TargetLabels {
  readonly enforced: boolean;
}

const targetLabels = ({ config, target, name, provider }: TargetLabels) => ({
  config,
  target,
  target_name: name,
  provider,
});

const BREAKER_STATES: readonly BreakerState[] = ['open', 'half_open', 'closed'];

/** Gauges that prom-client names `_total`, which promtool rejects. The sum of resources has the others anyway. */
const MISNAMED_DEFAULTS = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

export function createMetrics(options: MetricsOptions): Metrics {
  const registry: AnyRegistry = new Registry();
  const families = openFamilies(() => options.clock.now());
  for (const family of Object.values(families)) {
    // The registry reads only the fields of Family; its declared type requires a whole Counter.
    registry.registerMetric(family as unknown as Metric);
  }
  if (options.process ?? true) {
    collectDefaultMetrics({ register: registry as Registry });
    for (const name of MISNAMED_DEFAULTS) registry.removeSingleMetric(name);
    for (const metric of registry.getMetricsAsArray()) aggregateAsOne(metric);
  }
  declareSeries(families, options);
  const { flush = () => {} } = options;
  const scrape = createScraper(registry, flush);
  const opened = new Map<string, AnyFamily>();
  return {
    families,
    flush,
    scrape,
    open(spec) {
      const known = opened.get(spec.name);
      if (known) {
        if (isDeepStrictEqual(shapeOf(known.spec), shapeOf(spec))) return known;
        throw new TypeError(`the metric ${spec.name} exists with another type, other labels or other buckets`);
      }
      const family = openFamily(
        spec,
        () => families.labelOverflow.add({ metric: spec.name }),
        () => options.clock.now(),
      );
      opened.set(spec.name, family);
      registry.registerMetric(family as unknown as Metric);
      return family;
    },
    snapshot(which) {
      flush();
      return snapshotOf(registry, which);
    },
    ...createRecorders(families, options.clock),
  };
}

const shapeOf = ({ type, labels, buckets }: MetricSpec) => ({ type, labels, buckets });

/** Metrics that can have too many label sets: not those whose label sets all exist at the start. */
const isOpen = ({ labels, zero, byCaller }: MetricSpec): boolean => byCaller === true || (labels.length > 0 && !zero);

function declareSeries(families: Families, { build }: MetricsOptions): void {
  families.buildInfo.set({ ...build, node_version: process.version }, 1);
  for (const family of Object.values<AnyFamily>(families)) {
    for (const labels of family.spec.zero ?? []) family.declare(labels);
    if (isOpen(family.spec)) families.labelOverflow.declare({ metric: family.name });
  }
}

const createRecorders = (families: Families, clock: Clock) => ({
  settingsLoaded(hash: string, providers: readonly string[]): void {
    families.configInfo.reset();
    families.configInfo.set({ config_hash: hash }, 1);
    families.configReloadSuccessful.set({}, 1);
    families.configReloadSuccessTime.set({}, clock.wall() / 1000);
    families.configReloads.add({ result: 'success' });
    families.tokenRefreshes.declareOnly(
      providers.flatMap((provider) => ['success', 'failure'].map((result) => ({ provider, result }))),
    );
    // Further series would take the places of entries that fail.
    const failures = providers.flatMap((provider) => FAILURES.map((kind) => ({ provider, kind })));
    families.upstreamFailures.declareOnly(failures.slice(0, MAX_LABEL_SETS - FAILURES.length));
  },
  /** Records rejected settings; the previous ones, if any, stay in use. */
  settingsRefused(): void {
    families.configReloadSuccessful.set({}, 0);
    families.configReloads.add({ result: 'failure' });
  },
  replyCache: {
    onChange({ entries, bytes }: { readonly entries: number; readonly bytes: number }): void {
      families.cacheEntries.set({}, entries);
      families.cacheSize.set({}, bytes);
    },
    onEvict: () => families.cacheEvictions.add({}),
  },
  filesCounted({ files, bytes }: { readonly files: number; readonly bytes: number }): void {
    families.storedFiles.set({}, files);
    families.storedFileBytes.set({}, bytes);
  },
  targetHealth: {
    /** Sets the targets of the stored configs. */
    list(targets: readonly (EnforcedTarget & { readonly healthy: boolean })[]): void {
      families.targetHealthy.reset();
      for (const target of targets) families.targetHealthy.set(targetLabels(target), target.healthy ? 1 : 0);
      families.breakerTransitions.declareOnly(
        targets.flatMap((target) =>
          (target.enforced ? BREAKER_STATES : []).map((to) => ({ ...targetLabels(target), to })),
        ),
      );
    },
    changed(target: EnforcedTarget, to: BreakerState, healthy: boolean): void {
      const labels = targetLabels(target);
      families.targetHealthy.set(labels, healthy ? 1 : 0);
      if (target.enforced) families.breakerTransitions.add({ ...labels, to });
    },
  },
});

/** Replaces prom-client's average, which hides a single hanging process. */
function aggregateAsOne(metric: { readonly name: string; aggregator?: string }): void {
  if (metric.aggregator === 'average') metric.aggregator = 'max';
  // The oldest process is the primary.
  if (metric.name === 'process_start_time_seconds') metric.aggregator = 'min';
}

/** Collects only the requested metrics, because the event loop's lag is measured since its last collection. */
async function snapshotOf(registry: AnyRegistry, which: 'all' | 'cumulative'): Promise<readonly FamilySnapshot[]> {
  // prom-client's metrics have these fields, but its types do not declare them.
  const metrics = registry.getMetricsAsArray() as unknown as readonly Collected[];
  const selected = which === 'all' ? metrics : metrics.filter(isCumulative);
  return Promise.all(selected.map(async (metric) => ({ ...(await metric.get()), name: metric.name })));
}

/** The content type is state of the whole registry, so scrapes run one after the other. */
function createScraper(registry: AnyRegistry, flush: () => void): Metrics['scrape'] {
  let turn: Promise<unknown> = Promise.resolve();
  const render = async (accept: string | undefined): Promise<{ contentType: string; text: string }> => {
    flush();
    const contentType = contentTypeFor(accept);
    registry.setContentType(contentType);
    const restoreNames = rememberNames(registry);
    try {
      return { contentType, text: await registry.metrics() };
    } finally {
      restoreNames();
    }
  };
  return (accept) => {
    const result = turn.then(() => render(accept));
    turn = result.catch(() => undefined);
    return result;
  };
}

/** prom-client 15.1.3 removes `_total` from the counters to print OpenMetrics and does not restore it (measured). */
function rememberNames(registry: AnyRegistry): () => void {
  const names = registry.getMetricsAsArray().map((metric) => ({ metric, name: metric.name }));
  return () => {
    for (const { metric, name } of names) metric.name = name;
  };
}

export const contentTypeFor = (accept: string | undefined): PrometheusContentType | OpenMetricsContentType =>
  wantsOpenMetrics(accept) ? Registry.OPENMETRICS_CONTENT_TYPE : Registry.PROMETHEUS_CONTENT_TYPE;

/** Prometheus lists OpenMetrics first when it prefers it; any client that does not list it gets the text format. */
const wantsOpenMetrics = (accept: string | undefined): boolean =>
  (accept ?? '').split(',').some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return type === 'application/openmetrics-text' && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
