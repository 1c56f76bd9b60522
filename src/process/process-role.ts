import type { Logger } from 'pino';
import type { Clock } from '../plugin/index.ts';
import type { Metrics } from '../record/metrics/registry.ts';
import type { RecordSource } from '../admin/admin-listener.ts';
import type { DrainTimes } from './drain.ts';
import type { ExplainSource } from '../dry-run/explain/explain-source.ts';
import type { Address } from '../compose/listener/listeners.ts';
import type { InForce } from './reload.ts';

/** What a process among several does of the whole; one that is alone does all of it. */
export type ProcessRole =
  | { readonly kind: 'alone' }
  /** Serves requests. Has no status listener and reads settings when it is told to. */
  | { readonly kind: 'worker'; readonly id: number }
  /** Serves none: it has the other listeners, watches the settings, and others serve. */
  | { readonly kind: 'primary'; readonly workers: (tools: WorkerPoolTools) => WorkerPool };

/** What the primary has for the processes that serve. */
export interface WorkerPoolTools {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

/** The processes that serve, as the primary's listeners and its reloads see them. */
export interface WorkerPool {
  /** All of them listen, on the same port, with the settings these files hold. */
  start(inForce: InForce): Promise<Address>;
  /** These settings are in force in the primary: now in all. Never rejects. */
  spread(inForce: InForce): Promise<void>;
  scrape: Metrics['scrape'];
  /** What became of their requests. */
  readonly records: RecordSource;
  /** Why. */
  readonly explains: ExplainSource;
  /** How the targets do, as each of them has seen it. */
  targets(): Promise<readonly string[]>;
  /** Why they do not serve; empty: they do. */
  reasons(): readonly string[];
  /** All stop, at the same time. Gives how many requests were cut. */
  drain(times: DrainTimes): Promise<number>;
}
