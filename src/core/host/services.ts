import { Cancellation, GatewayError, type Clock } from '../../plugin/index.ts';
import type { CallerMaker, HostServices, OwnError } from '../../plugin/services.ts';
import { uuidv7 } from '../kernel/ids.ts';
import type { Claims } from '../ports/claims.ts';
import type { Upstream } from '../upstream/types.ts';
import { pluginFetch, type CallTools } from './plugin-fetch.ts';
import { OwnMetrics, type OpenMetric } from './plugin-metrics.ts';
import { pluginSpan } from './plugin-span.ts';
import { pluginState } from './plugin-state.ts';
import { enterStores, leaveStores, PluginStores, type StoresByPlugin } from './plugin-stores.ts';

/** State of the services of plugins, which outlives snapshots, and their counts. */
export interface HostState {
  readonly openMetric: OpenMetric;
  readonly stores: StoresByPlugin;
  readonly called: CallTools['called'];
  /** Of the state store; undefined while it does not answer. Undefined itself: the settings have none. */
  readonly claims: (() => Claims | undefined) | undefined;
}

interface ServedPlugin {
  /** Its name in the settings. */
  readonly instance: string;
  readonly errors: Readonly<Record<string, OwnError>>;
  /** Its definition has `state: true`. */
  readonly keeps: boolean | undefined;
  /** Registers a task for the release of the snapshot. */
  readonly onClose: (task: () => void) => void;
}

export interface ServiceTools {
  readonly dry: boolean;
  readonly clock: Clock;
  readonly exchange: Upstream['exchange'];
  readonly callers: () => CallerMaker;
  /** Undefined in a dry run: nothing is counted, and what is kept ends with the snapshot. */
  readonly state: HostState | undefined;
  readonly openMetric?: OpenMetric;
}

const CLOSED = new GatewayError('shutting_down', 'The settings that hold this plugin are released.');

/** Adds the services to a plugin's host. Each is made when the plugin first reads it. */
export function addServices<H extends object>(host: H, plugin: ServedPlugin, tools: ServiceTools): H & HostServices {
  const { instance, onClose } = plugin;
  const { state, clock, dry, exchange, callers } = tools;
  const all: StoresByPlugin = state?.stores ?? new Map();
  const closing = once(() => {
    const cancellation = new Cancellation();
    onClose(() => cancellation.cancel(CLOSED));
    return cancellation;
  });
  enterStores(all, instance);
  onClose(() => leaveStores(all, instance));
  const stores = once(() => PluginStores.of(all, instance, clock));
  const made: { readonly [Name in keyof HostServices]: () => HostServices[Name] } = {
    metrics: () => new OwnMetrics(instance, tools.openMetric),
    cache: () => (options) => stores().cache(options),
    counters: () => stores().counters,
    state: () => pluginState({ plugin, clock, texts: state?.claims ?? (() => stores().texts) }),
    ids: () => ({ uuid: () => uuidv7(clock.wall()) }),
    span: () => pluginSpan(instance, clock),
    fetch: () =>
      pluginFetch({ plugin: instance, dry, clock, exchange, closing: closing(), called: state?.called ?? (() => {}) }),
    callers,
    signal: () => closing().signal,
    error: () => ownErrors(plugin),
  };
  for (const [name, make] of Object.entries(made))
    Object.defineProperty(host, name, { get: once<unknown>(make), enumerable: true, configurable: true });
  // The properties have just been defined.
  return host as H & HostServices;
}

const ownErrors =
  ({ instance, errors }: ServedPlugin): HostServices['error'] =>
  (ownCode, message, details) => {
    const own = errors[ownCode];
    if (!own) throw new TypeError(`the plugin "${instance}" declares no error "${ownCode}" in \`errors\``);
    return new GatewayError('plugin_refused', message, { ...details, ...own, ownCode, plugin: instance });
  };

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
