import type { Logger } from 'pino';
import type { Clock } from '../../plugin/index.ts';
import type { ServerFile } from '../../../schemas/types.generated.ts';
import type { Exchange } from '../kernel/index.ts';
import type { TraceContext } from '../kernel/outside/plugin-work.ts';
import type { Metrics } from './metrics/registry.ts';
import type { RequestRecord } from './record.ts';

/** The server span of one request. Client spans are created from the record when it closes. */
export interface ServerSpan extends TraceContext {
  readonly spanId: string;
  readonly isSampled: boolean;
  close(record: RequestRecord): void;
}

/** Opens the server span of a request. @param receivedAt wall clock, milliseconds since 1970 */
export type OpenSpan = (exchange: Exchange, receivedAt: number) => ServerSpan;

/** Sends what is known of requests, and the lines of the log, to a collector. An add-on has it. */
export interface Telemetry {
  readonly openSpan: OpenSpan | undefined;
  readonly countRequest: ((record: RequestRecord) => void) | undefined;
  readonly writeLine: ((line: string) => void) | undefined;
  /** Exports everything so far. Failures are logged, here and in `shutdown`. */
  flush(): Promise<void>;
  /** Exports the rest, in bounded time, and stops. Spans that end later are lost. */
  shutdown(): Promise<void>;
}

export interface TelemetryOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly yaml: ServerFile['telemetry'];
  readonly version: string;
  readonly log: Logger;
  /** Exported beside the metrics of the conventions. */
  readonly metrics: Pick<Metrics, 'families' | 'flush'>;
  readonly clock?: Clock;
  /** How long `shutdown` waits for the collector. Injected by tests. */
  readonly shutdownMs?: number;
}
