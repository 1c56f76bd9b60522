import type { Diagnostic } from '../settings/source/diagnostic.ts';
import type { Settings } from '../settings/read/load.ts';
import type { RecordPage, RecordQuery } from '../record/record-query.ts';
import type { ResponseStore } from '../memory/ports.ts';
import type { AlertSink } from '../../addons/alerts/alert.ts';
import type { UsageCounters } from '../../addons/budgets/state/usage-counters.ts';
import type { ObjectReplica } from '../../addons/budgets/state/object-replica.ts';
import type { ReconnectingStore } from '../../addons/budgets/state/reconnecting-store.ts';
import type { Spools } from '../../addons/budgets/state/spools.ts';
import type { Upstream } from '../upstream/index.ts';
import type { DrainTimes, DrainStep, Load } from './drain.ts';
import type { ExplainService, ExplainSource } from '../../addons/explain/explain/explain-service.ts';
import type { ReloadResult, InForce } from './reload.ts';
import type { Clock } from '../../plugin/index.ts';
import type { Metrics } from '../record/metrics/registry.ts';
import type { RecordSource } from '../../addons/admin/api/sources.ts';
import type { Address } from '../http/listener/listeners.ts';
import type { Logger } from 'pino';

/** A serving gateway, as its owner uses it. */
export interface Gateway {
  readonly data: Address;
  readonly status: Address;
  /** Undefined: `admin.enabled: false`. */
  readonly admin: Address | undefined;
  /** The settings that serve now. */
  readonly settings: Settings;
  /** Warnings about the settings that serve now. */
  readonly warnings: readonly Diagnostic[];
  readonly metrics: Metrics;
  readonly upstream: Upstream;
  /** Undefined: the settings have no state store, or this is a worker. */
  readonly state: Pick<ReconnectingStore, 'store'> | undefined;
  /** The record of this process's latest request with this id, as plain JSON. */
  record(id: string): object | undefined;
  /** The latest requests of this process, one line each. */
  records(query: RecordQuery): readonly object[];
  /** The same a page at a time. */
  recordPage(query: RecordQuery): Promise<RecordPage>;
  /** Explains how a request would be handled under the current settings and target health. Calls no upstream. */
  explain: ExplainService['explain'];
  /** Explains how a request of this process was handled, by the id in its `x-gateway-explain-id`. */
  explained: ExplainService['explained'];
  /** Reloads the settings. Never rejects: problems are in the result, and the previous settings still serve. */
  reload(): Promise<ReloadResult>;
  /**
   * Reports not ready, serves for `drain.delay` unless that is skipped, stops listening, waits up to `drain.timeout`
   * for requests to end, and releases everything. `cut`: the number of requests that did not end by themselves.
   */
  drain(options?: { readonly delay?: boolean }): Promise<{ readonly cut: number }>;
  /** As `drain` without delay and within `graceMs`. It does not wait for clients to read the errors of cut replies. */
  close(graceMs?: number): Promise<void>;
}

/** A gateway without the parts that only the primary has. */
export type WorkerGateway = Omit<Gateway, 'status' | 'admin'> & {
  /** The load that would be cut if this process ended now. */
  load(): Promise<Load>;
  /** The health of the targets, by the requests of this process. */
  targets(): readonly string[];
  /** Answers the primary's explain questions. */
  readonly explains: ExplainSource;
  readonly keeps: ExplainService['keeps'];
  /** Applies an equal part of the limits of rates, which this many processes share. */
  shareLimits(processes: number): void;
  /** Drains with the primary's times: its settings may have just changed. */
  shutDown(times: DrainTimes): Promise<{ readonly cut: number }>;
  /** Takes the primary's next drain step. */
  drainStep(step: DrainStep): void;
};

/** The role of this process in a gateway of one or several processes. */
export type ProcessRole =
  | { readonly kind: 'alone' }
  /** Serves requests. Has no status listener and reloads settings when the primary tells it to. */
  | { readonly kind: 'worker'; readonly id: number }
  /** Serves no requests itself: it has the other listeners, watches the settings and runs the workers. */
  | { readonly kind: 'primary'; readonly workers: (tools: WorkerPoolTools) => WorkerPool };

/** The primary's tools for the worker pool. */
export interface WorkerPoolTools {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** Kept for all workers. */
  readonly responses: ResponseStore;
  /** The usage counters of budgets and the other ports of the state store, for all workers. */
  readonly usageCounters: UsageCounters;
  /** The objects of the state store, which workers get from the primary. Undefined: there is none. */
  readonly stored: ObjectReplica | undefined;
  readonly alerts: AlertSink;
  /** Spools of ended workers. Undefined: the store is not on disk. */
  readonly spools: Pick<Spools, 'ended'> | undefined;
}

/** The worker processes as the primary's listeners and reloads see them. */
export interface WorkerPool {
  /** Starts all workers on the same port with the settings of these files. */
  start(inForce: InForce): Promise<Address>;
  /** Sends the settings that the primary now uses to all workers. Never rejects. */
  spread(inForce: InForce): Promise<void>;
  scrape: Metrics['scrape'];
  /** The request records of all workers. */
  readonly records: RecordSource;
  /** The explanations of all workers. */
  readonly explains: ExplainSource;
  /** The health of the targets as each worker sees it. */
  targets(): Promise<readonly string[]>;
  /** The reasons why the workers do not serve. Empty: they serve. */
  reasons(): readonly string[];
  /** Stops all workers at the same time. Returns the number of cut requests. */
  drain(times: DrainTimes): Promise<number>;
}
