import {
  collectDefaultMetrics,
  Registry,
  type Metric,
  type OpenMetricsContentType,
  type PrometheusContentType,
} from 'prom-client';
import type { CacheStatus, Clock, TargetHealth } from '../../plugin/index.ts';
import { isCumulative, type FamilySnapshot } from './aggregate.ts';
import { DROP_REASONS } from '../log/line-writer.ts';
import { LIMIT_REFUSALS, REJECTION_REASONS } from '../error-types.ts';
import { METRICS } from './metrics.ts';
import { UNMATCHED_ROUTE } from './metric-spec.ts';
import { openFamilies, type Families } from './open-families.ts';

type AnyRegistry = Registry<PrometheusContentType | OpenMetricsContentType>;
/** What this module asks of a metric, one of ours or of prom-client's. */
interface Collected {
  readonly name: string;
  readonly type: string;
  get(): Promise<FamilySnapshot>;
}

export interface MetricsOptions {
  readonly clock: Clock;
  readonly build: { readonly version: string; readonly revision: string };
  /** Paths of the operations: their series exist from the start, so that a rate exists before the first error. */
  readonly routes: readonly string[];
  /** Event loop, heap, garbage collection, file descriptors. Default true. */
  readonly process?: boolean;
}

/** All metrics of the process. One per process: it outlives every snapshot of the settings. */
export interface Metrics {
  readonly families: Families;
  /** The exposition in the form `accept` asks for. */
  scrape(accept: string | undefined): Promise<{ readonly contentType: string; readonly text: string }>;
  /** What another process needs to tell of this one: everything, or what must not be lost with it. */
  snapshot(which: 'all' | 'cumulative'): Promise<readonly FamilySnapshot[]>;
  /** Settings were loaded and serve from now on. */
  settingsLoaded(hash: string, providers: readonly string[]): void;
  /** Settings were refused; those before them, if any, still serve. */
  settingsRefused(): void;
  /** What the store of kept replies tells. */
  readonly replyCache: {
    readonly onChange: (size: { readonly entries: number; readonly bytes: number }) => void;
    readonly onEvict: () => void;
  };
  /** What the breakers of targets tell. */
  readonly targetHealth: {
    /** These are the targets of the stored configs from now on. */
    list(targets: readonly (TargetLabels & { readonly healthy: boolean; readonly enforced: boolean })[]): void;
    changed(target: TargetLabels & { readonly enforced: boolean }, to: BreakerState): void;
  };
  /** Credentials of a catalog entry were exchanged for an access token. */
  tokenRefreshed(provider: string, result: 'success' | 'failure'): void;
}

type BreakerState = TargetHealth['state'];

interface TargetLabels {
  readonly config: string;
  readonly target: string;
  readonly provider: string;
}

const BREAKER_STATES: readonly BreakerState[] = ['open', 'half_open', 'closed'];

const CACHE_RESULTS: readonly CacheStatus[] = ['hit', 'shared', 'miss', 'refresh', 'bypass'];

/** Gauges that prom-client calls `_total`, which promtool refuses; handles and requests are in the resources' sum anyway. */
const MISNAMED_DEFAULTS = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

export function createMetrics(options: MetricsOptions): Metrics {
  const registry: AnyRegistry = new Registry();
  const families = openFamilies(() => options.clock.now());
  for (const family of Object.values(families)) {
    // The registry asks only for what Family has; the declared type wants a whole Counter.
    registry.registerMetric(family as unknown as Metric);
  }
  if (options.process ?? true) {
    collectDefaultMetrics({ register: registry as Registry });
    for (const name of MISNAMED_DEFAULTS) registry.removeSingleMetric(name);
    for (const metric of registry.getMetricsAsArray()) aggregateAsOne(metric);
  }
  declareSeries(families, options);
  return {
    families,
    scrape: createScraper(registry),
    snapshot: (which) => snapshotOf(registry, which),
    ...createRecorders(families, options.clock),
  };
}

/** Outcomes that are known beforehand start at zero: an alert on a rate needs a first value before the first failure. */
function declareSeries(families: Families, { build, routes }: MetricsOptions): void {
  families.buildInfo.set({ ...build, node_version: process.version }, 1);
  for (const result of ['success', 'failure']) families.configReloads.declare({ result });
  for (const reason of DROP_REASONS) families.logLinesDropped.declare({ reason });
  for (const result of CACHE_RESULTS) families.cacheRequests.declare({ mode: 'exact', result });
  for (const refusal of LIMIT_REFUSALS) families.limitRefusals.declare(refusal);
  families.draining.set({}, 0);
  families.poolWaiting.set({}, 0);
  families.largeBodiesWaiting.set({}, 0);
  families.largeBodyWait.declare({});
  families.cacheEntries.set({}, 0);
  families.cacheSize.set({}, 0);
  families.cacheEvictions.declare({});
  for (const { name } of Object.values(METRICS)) families.labelOverflow.declare({ metric: name });
  for (const route of [...routes, UNMATCHED_ROUTE]) {
    families.requestsInFlight.set({ route }, 0);
    families.requestOverhead.declare({ route });
    for (const stage of ['queued', 'waiting', 'streaming']) families.clientDisconnects.declare({ route, stage });
    for (const reason of REJECTION_REASONS) families.requestsRejected.declare({ route, reason });
    for (const status_class of ['2xx', '4xx', '5xx']) {
      for (const stream of ['false', 'true']) families.requests.declare({ route, status_class, stream, cache: '' });
    }
  }
}

function createRecorders(families: Families, clock: Clock): Omit<Metrics, 'families' | 'scrape' | 'snapshot'> {
  return {
    settingsLoaded(hash, providers) {
      families.configInfo.reset();
      families.configInfo.set({ config_hash: hash }, 1);
      families.configReloadSuccessful.set({}, 1);
      families.configReloadSuccessTime.set({}, clock.wall() / 1000);
      families.configReloads.add({ result: 'success' });
      families.tokenRefreshes.declareOnly(
        providers.flatMap((provider) => ['success', 'failure'].map((result) => ({ provider, result }))),
      );
    },
    settingsRefused() {
      families.configReloadSuccessful.set({}, 0);
      families.configReloads.add({ result: 'failure' });
    },
    replyCache: {
      onChange({ entries, bytes }) {
        families.cacheEntries.set({}, entries);
        families.cacheSize.set({}, bytes);
      },
      onEvict: () => families.cacheEvictions.add({}),
    },
    targetHealth: {
      list(targets) {
        families.targetHealthy.reset();
        for (const { healthy, enforced: _, ...labels } of targets) families.targetHealthy.set(labels, healthy ? 1 : 0);
        families.breakerTransitions.declareOnly(
          targets.flatMap(({ healthy: _, enforced, ...labels }) =>
            (enforced ? BREAKER_STATES : []).map((to) => ({ ...labels, to })),
          ),
        );
      },
      changed({ enforced, ...labels }, to) {
        families.targetHealthy.set(labels, to === 'closed' ? 1 : 0);
        if (enforced) families.breakerTransitions.add({ ...labels, to });
      },
    },
    tokenRefreshed(provider, result) {
      families.tokenRefreshes.add({ provider, result });
    },
  };
}

/** Where prom-client's own rule hides what operators look for: an average hides the one process that hangs. */
function aggregateAsOne(metric: { readonly name: string; aggregator?: string }): void {
  if (metric.aggregator === 'average') metric.aggregator = 'max';
  // Of the oldest process, which is the primary.
  if (metric.name === 'process_start_time_seconds') metric.aggregator = 'min';
}

/** Others are not asked at all: the event loop's lag counts from the last time it was asked for. */
async function snapshotOf(registry: AnyRegistry, which: 'all' | 'cumulative'): Promise<readonly FamilySnapshot[]> {
  // What prom-client collects has these fields; its types tell them of its own classes only.
  const metrics = registry.getMetricsAsArray() as unknown as readonly Collected[];
  const asked = which === 'all' ? metrics : metrics.filter(isCumulative);
  return Promise.all(asked.map(async (metric) => ({ ...(await metric.get()), name: metric.name })));
}

/** The content type is a state of the whole registry, so scrapes take turns. */
function createScraper(registry: AnyRegistry): Metrics['scrape'] {
  let turn: Promise<unknown> = Promise.resolve();
  const render = async (accept: string | undefined): Promise<{ contentType: string; text: string }> => {
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

/**
 * prom-client 15.1.3 cuts `_total` off the counters' own names to print OpenMetrics and leaves them so: the next text scrape
 * would have other metric names (measured).
 */
function rememberNames(registry: AnyRegistry): () => void {
  const names = registry.getMetricsAsArray().map((metric) => ({ metric, name: metric.name }));
  return () => {
    for (const { metric, name } of names) metric.name = name;
  };
}

export const contentTypeFor = (accept: string | undefined): PrometheusContentType | OpenMetricsContentType =>
  wantsOpenMetrics(accept) ? Registry.OPENMETRICS_CONTENT_TYPE : Registry.PROMETHEUS_CONTENT_TYPE;

/** Prometheus names OpenMetrics first where it wants it; anything that does not name it gets the text format. */
function wantsOpenMetrics(accept: string | undefined): boolean {
  return (accept ?? '').split(',').some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return type === 'application/openmetrics-text' && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}
