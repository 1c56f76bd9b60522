import type { Logger } from 'pino';
import type { Clock } from '../plugin/index.ts';
import type { Metrics } from '../record/metrics/registry.ts';
import type { RecordSource } from '../admin/admin-listener.ts';
import type { DrainTimes } from './drain.ts';
import type { Address } from '../compose/listener/listeners.ts';
import type { InForce } from './reload.ts';
import type { ExplainSource } from '../dry-run/explain/explain-service.ts';

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
