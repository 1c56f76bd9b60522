import type { Tracer } from '@opentelemetry/api';
import type { Logger } from 'pino';
import type { Clock, Exchange, Recorder, ReplyEnd, RequestRecording } from '../plugin/index.ts';
import type { AccessLog } from './access-log.ts';
import { recordRequest } from './record-metrics.ts';
import { UNMATCHED_ROUTE, type Metrics } from './registry.ts';
import { openServerSpan, type ServerSpan } from './spans.ts';
import { summarise } from './summary.ts';

export interface RecorderOptions {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly accessLog: AccessLog;
  /** Where a fault of telemetry itself is told. */
  readonly log: Logger;
  /** Undefined: no spans. */
  readonly tracer?: Tracer | undefined;
}

/**
 * Records a request when its reply has left, all at once, from what the exchange holds by then: nothing is done per chunk and
 * nothing is found through an ambient context.
 */
export function createRecorder(options: RecorderOptions): Recorder {
  const { clock, metrics, tracer } = options;
  return {
    open(exchange) {
      const route = { route: exchange.operation?.path ?? UNMATCHED_ROUTE };
      metrics.families.requestsInFlight.add(route, 1);
      const span = tracer && openServerSpan(tracer, clock, exchange);
      if (span) exchange.trace = { traceId: span.traceId };
      let open = true;
      return {
        close(end) {
          if (!open) return;
          open = false;
          metrics.families.requestsInFlight.add(route, -1);
          settle(options, exchange, end, span);
        },
      } satisfies RequestRecording;
    },
  };
}

/** Each sink on its own: a fault in one costs neither the others nor the request. */
function settle(
  { clock, metrics, accessLog, log }: RecorderOptions,
  exchange: Exchange,
  end: ReplyEnd,
  span: ServerSpan | undefined,
): void {
  const guarded = <T>(task: () => T): T | undefined => {
    try {
      return task();
    } catch (err) {
      log.error({ err, request_id: exchange.id }, 'telemetry could not record a request');
      return undefined;
    }
  };
  const summary = guarded(() => summarise(exchange, end, clock.now()));
  if (!summary) return;
  guarded(() => recordRequest(metrics.families, summary));
  guarded(() => accessLog(summary, span?.spanId));
  guarded(() => span?.close(summary));
}
