import type { AskParts } from './ask-parts.ts';
import type { ExplainSource } from './explain-port.ts';
import type { Diagnostic } from '../settings/source/diagnostic.ts';
import type { Settings } from '../settings/read/load.ts';
import type { RecordPage, RecordQuery, RecordSource } from '../record/record-query.ts';
import type { ResponseStore } from '../memory/ports.ts';
import type { ObjectReplica } from '../settings/source/stored-objects.ts';
import type { OpenStore, SharedUsage } from '../ports/store.ts';
import type { AlertSink } from '../ports/alert.ts';
import type { Upstream } from '../upstream/types.ts';
import type { DrainTimes, DrainStep, Load } from './drain.ts';
import type { ProcessPart } from './process-part.ts';
import type { ReloadResult, InForce } from './reload.ts';
import type { Clock } from '../../plugin/index.ts';
import type { Metrics } from '../record/metrics/registry.ts';
import type { Address } from '../http/listener/listeners.ts';
import type { Logger } from 'pino';

/** A serving gateway, as its owner uses it. */
export interface Gateway {
  readonly data: Address;
  readonly status: Address;
  /** Undefined: `admin.enabled: false`. */
  readonly admin: Address | undefined;
  readonly settings: Settings;
  readonly warnings: readonly Diagnostic[];
  readonly metrics: Metrics;
  readonly upstream: Upstream;
  /** Undefined: the settings have no state store, or this is a worker. */
  readonly state: Pick<OpenStore, 'store'> | undefined;
  /** The record of this process's latest request with this id, as plain JSON. */
  record(id: string): object | undefined;
  /** The latest requests of this process, one line each. */
  records(query: RecordQuery): readonly object[];
  /** The same a page at a time. */
  recordPage(query: RecordQuery): Promise<RecordPage>;
  readonly parts: readonly ProcessPart[];
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
  /** Applies an equal part of the limits of rates, which this many processes share. */
  shareLimits(processes: number): void;
  /** Drains with the primary's times: its settings may have just changed. */
  shutDown(times: DrainTimes): Promise<{ readonly cut: number }>;
  /** Takes the primary's next drain step. */
  drainStep(step: DrainStep): void;
};

export type ProcessRole =
  | { readonly kind: 'alone' }
  /** Serves requests. Has no status listener and reloads settings when the primary tells it to. */
  | { readonly kind: 'worker'; readonly id: number }
  /** Serves no requests itself: it has the other listeners, watches the settings and runs the workers. */
  | { readonly kind: 'primary'; readonly workers: (tools: WorkerPoolTools) => WorkerPool };

export interface WorkerPoolTools {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly responses: ResponseStore | undefined;
  readonly usage: SharedUsage | undefined;
  /** The objects of the state store, which workers get from the primary. Undefined: there is none. */
  readonly stored: ObjectReplica | undefined;
  readonly alerts: AlertSink | undefined;
  /** Gets the messages of the parts of workers. */
  readonly told?: (topic: string, message: unknown, worker: number) => void;
}

/** The worker processes as the primary's listeners and reloads see them. */
export interface WorkerPool {
  /** Starts all workers on the same port with the settings of these files. */
  start(inForce: InForce): Promise<Address>;
  /** Sends the settings that the primary now uses to all workers. Resolves with the mistakes of those that refuse them. Never rejects. */
  spread(inForce: InForce): Promise<readonly Diagnostic[]>;
  scrape: Metrics['scrape'];
  readonly records: RecordSource;
  readonly explains: ExplainSource;
  readonly ask: AskParts;
  /** The health of the targets as each worker sees it. */
  targets(): Promise<readonly string[]>;
  /** The reasons why the workers do not serve. Empty: they serve. */
  reasons(): readonly string[];
  /** Stops all workers at the same time. Returns the number of cut requests. */
  drain(times: DrainTimes): Promise<number>;
}
