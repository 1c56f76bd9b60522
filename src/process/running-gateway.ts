import type { Diagnostic } from '../settings/problems/diagnostic.ts';
import type { Settings } from '../settings/read/load.ts';
import type { RecordQuery } from '../record/store.ts';
import type { Metrics } from '../record/metrics/registry.ts';
import type { Upstream } from '../upstream/index.ts';
import type { DrainTimes } from './drain.ts';
import type { DrainStep } from './drain-steps.ts';
import type { ExplainService } from '../dry-run/explain/explain-service.ts';
import type { ExplainSource } from '../dry-run/explain/explain-source.ts';
import type { Address } from '../compose/listener/listeners.ts';
import type { ReportPluginFailure } from '../gateway/plugin-faults.ts';
import type { ReloadResult } from './reload.ts';
import type { Load } from './workers/ipc.ts';

/** A gateway that serves, as its owner holds it. */
export interface Gateway {
  readonly data: Address;
  readonly status: Address;
  /** Undefined: `admin.enabled: false`. */
  readonly admin: Address | undefined;
  /** What the files say that serve now. */
  readonly settings: Settings;
  /** What is doubtful in the files, and no reason not to start. */
  readonly warnings: readonly Diagnostic[];
  readonly metrics: Metrics;
  readonly upstream: Upstream;
  /** What became of the latest request of this process that had this id, as plain JSON. */
  record(id: string): object | undefined;
  /** Its latest requests, one line each. */
  records(query: RecordQuery): readonly object[];
  /** What would become of a request, with the settings in force and the targets as they do now. Calls nobody. */
  explain: ExplainService['explain'];
  /** Why what became of a request of this process did, by the id in its `x-gateway-explain-id`. */
  explained: ExplainService['explained'];
  /** Reads the settings anew. Never rejects: what is wrong with them is in the result, and those before them still serve. */
  reload(): Promise<ReloadResult>;
  /**
   * Says that it is not ready; goes on serving for `drain.delay`, unless that is left out; stops listening, lets what is under way
   * end within `drain.timeout`, and lets go of everything. `cut`: requests that did not end by themselves.
   */
  drain(options?: { readonly delay?: boolean }): Promise<{ readonly cut: number }>;
  /** An error that nothing has handled: stops as `drain` does, without delay, and in bounded time whatever hangs. */
  fail(): Promise<void>;
  /** A plugin from outside has a fault that no request has shown. */
  readonly pluginFault: ReportPluginFailure;
  /** The same as `drain` without delay, within `graceMs`; nothing waits for clients to hear that they were cut. */
  close(graceMs?: number): Promise<void>;
}

/** What only the primary has is not there. */
export type WorkerGateway = Omit<Gateway, 'status' | 'admin'> & {
  /** What would be cut if this process ended now. */
  load(): Promise<Load>;
  /** How the targets do, by its own requests. */
  targets(): readonly string[];
  /** What its primary asks. */
  readonly explains: ExplainSource;
  readonly keeps: ExplainService['keeps'];
  /** As the primary says, whose settings may have changed a moment ago. */
  shutDown(times: DrainTimes): Promise<{ readonly cut: number }>;
  /** The primary drains all workers, and this is its next step. */
  drainStep(step: DrainStep): void;
};
