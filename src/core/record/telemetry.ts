import type { Logger } from 'pino';
import type { Clock } from '../../plugin/index.ts';
import type { ServerFile } from '../../../schemas/types.generated.ts';
import type { Metrics } from './metrics/registry.ts';
import type { RequestRecord } from './record.ts';
import type { OpenSpan } from './traces/spans.ts';

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
