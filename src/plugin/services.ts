import type { Cancellation } from './cancellation.ts';
import type { Caller } from './config.ts';
import type { ErrorType } from './error-codes.ts';
import type { ErrorDetails, GatewayError } from './errors.ts';

/** Labels of a metric: the names that its declaration lists, each with a text. */
type MetricLabels<L extends string> = Readonly<Record<L, string>>;

export interface MetricOptions<L extends string> {
  /** Default: the name. */
  readonly help?: string;
  /** At most 8. Default: none. A metric has at most 100 sets of their values; what is counted beyond has `__other__` in each. */
  readonly labels?: readonly L[];
}

/**
 * The plugin's own metrics, named `plugin_PLUGIN_METRIC`. A name is lower-case letters, digits and `_`. Declare a metric in `create`: a name that is
 * declared again with other labels or another type is an error. At most 50 of a plugin.
 */
export interface PluginMetrics {
  /** Appends `_total` to the name. */
  counter<const L extends string = never>(
    name: string,
    options?: MetricOptions<L>,
  ): { add(labels: MetricLabels<L>, value?: number): void };
  gauge<const L extends string = never>(
    name: string,
    options?: MetricOptions<L>,
  ): { set(labels: MetricLabels<L>, value: number): void };
  /** `buckets`: upper bounds, ascending, at most 30. Default: 10 ms to 655 s. */
  histogram<const L extends string = never>(
    name: string,
    options?: MetricOptions<L> & { readonly buckets?: readonly number[] },
  ): { observe(labels: MetricLabels<L>, value: number): void };
}

export interface PluginCacheOptions {
  /** Bytes of all keys and values, two for a character of a text. The least recently used entry leaves first. */
  readonly maxBytes: number;
  /** Milliseconds that an entry is kept. */
  readonly ttl: number;
  /** Default: 10,000. */
  readonly maxEntries?: number;
  /** Several caches of one plugin have a name each. Default: ''. */
  readonly name?: string;
}

/** Values in the memory of the process, which survive a reload. Keep plain values: after a reload the plugin's code may be another. */
export interface PluginCache<V> {
  get(key: string): V | undefined;
  /** @param ttl milliseconds. Default: that of the cache. Returns false for a value larger than the cache, which is not kept */
  set(key: string, value: V, ttl?: number): boolean;
  delete(key: string): void;
}

/** Numbers by name in the memory of the process, which survive a reload. At most 10,000; the least recently used is forgotten first. */
export interface PluginCounters {
  /** Adds, and returns the sum. @param windowMs the count begins anew so many milliseconds after its first number. Default: never */
  add(name: string, amount?: number, windowMs?: number): number;
  get(name: string): number;
  reset(name: string): void;
}

/** Small values by name, of the plugins with one name in the settings. They reject with GatewayError `plugin_call_failed` after a second. */
export interface PluginState {
  /** Undefined: there is none, or its time has ended. */
  get(name: string): Promise<unknown>;
  /** @param value at most 1,000 characters as JSON @param ttl whole milliseconds, at most 366 days. Default: 30 days */
  set(name: string, value: unknown, ttl?: number): Promise<void>;
  delete(name: string): Promise<void>;
}

export interface FetchOptions {
  /** Default: GET, or POST with a body. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Milliseconds, of the whole exchange. Default: 5,000; at most 60,000. */
  readonly timeout?: number;
  /** The longest reply. Default: 1 MiB; at most 16 MiB. */
  readonly maxBytes?: number;
  /** Connections to the host. Default: 16. Further requests wait in line. */
  readonly connections?: number;
  /** Plain http, and addresses of the own network. Take it from an option, so that the operator decides. Default: false. */
  readonly allowInsecure?: boolean;
  /** Default: that of the request that the plugin works for. */
  readonly cancellation?: Cancellation;
}

export interface FetchReply {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  text(): string;
  /** Throws SyntaxError. */
  json(): unknown;
}

/** A caller that a plugin makes. */
export interface NewCaller {
  /** 1 to 128 letters, digits and `._@:-`, and no id of a gateway key. Limits, budgets and records know the caller by it. */
  readonly id: string;
  readonly team?: string;
  /** Without a team. */
  readonly organization?: string;
  readonly owner?: string;
  /** Values that requests cannot change, beside those of the team. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Its own limits, as keys.yaml writes them: `{ requests: '60/min', tokens: '100000/min', concurrency: 4 }`. */
  readonly limits?: Readonly<Record<string, string | number>>;
  readonly models?: readonly string[];
  readonly providers?: readonly string[];
  readonly configs?: readonly string[];
  readonly defaultConfig?: string;
}

/** Callers for a plugin that identifies them: `exchange.caller = host.callers.make({ id, team })`. */
export interface CallerMaker {
  /** The caller of a gateway key. Throws GatewayError: `key_misconfigured` for an unknown id, otherwise as for the key itself. */
  byId(id: string, remoteAddress: string): Caller;
  /** Limits, budgets and the audit of the team apply. Throws GatewayError `key_misconfigured` for a team, an organization or a limit that is not known. */
  make(caller: NewCaller): Caller;
}

/** An error of a plugin's own, in the definition's `errors`. */
export interface OwnError {
  /** 400 to 599. */
  readonly status: number;
  readonly type: ErrorType;
}

/** Services of the host. One that is not used costs nothing. */
export interface HostServices {
  readonly metrics: PluginMetrics;
  /** Plugins with the same name in the settings share it. */
  cache<V>(options: PluginCacheOptions): PluginCache<V>;
  readonly counters: PluginCounters;
  /** In the state store where the settings have one, else in the memory of the process. Rejects without `state: true` of the definition. */
  readonly state: PluginState;
  /** Ids as the gateway makes them: UUIDs of version 7, which sort by time. */
  readonly ids: { uuid(): string };
  /** Runs work as a span below that of its request; without tracing it only runs. @param attributes values of other types are left out */
  span<T>(name: string, work: () => T, attributes?: Readonly<Record<string, string | number | boolean>>): T;
  /**
   * A request to a service of the operator's: checked by the egress guard, bounded in time and size, cancelled with the request, measured.
   * Redirects are not followed. Throws GatewayError `plugin_call_failed`, also in the mode `dry`, and the reason of the cancellation.
   */
  fetch(url: string, options?: FetchOptions): Promise<FetchReply>;
  readonly callers: CallerMaker;
  /** Aborted when the settings that hold this plugin are released. */
  readonly signal: AbortSignal;
  /** An error of `errors` of the definition, to throw. It reaches the client in its API's form. */
  error(code: string, message: string, details?: Pick<ErrorDetails, 'param' | 'retryAfterMs' | 'cause'>): GatewayError;
}
