import type { Tracer } from '@opentelemetry/api';
import type { Logger } from 'pino';
import type { Clock, Exchange, Recorder, ReplyEnd, RequestRecording } from '../plugin/index.ts';
import type { AccessLog } from './log/access-log.ts';
import { boundRecord } from './bounded-record.ts';
import { CallersAsLabels } from './metrics/caller-labels.ts';
import { recordRequest, type LabelledCallers, type LabelledModels } from './metrics/record-metrics.ts';
import type { OpenRequest, RecordStore } from './store.ts';
import { recordOf } from './make-record.ts';
import { UNMATCHED_ROUTE } from './metrics/metric-spec.ts';
import type { Metrics } from './metrics/registry.ts';
import { openServerSpan, type ServerSpan } from './traces/spans.ts';

export interface RecorderOptions {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly models: LabelledModels;
  /** Default: the id of the key alone. */
  readonly callers?: LabelledCallers;
  readonly accessLog: AccessLog;
  /** Receives errors of telemetry itself. */
  readonly log: Logger;
  /** Undefined: no spans. */
  readonly tracer?: Tracer | undefined;
  /** Undefined: no records are stored. */
  readonly records?: RecordStore | undefined;
}

/**
 * Records a request once, when its reply has been sent, from the exchange's state at that time: no work per chunk and
 * no ambient context.
 */
export function createRecorder(options: RecorderOptions): Recorder {
  const { clock, metrics, tracer, records, callers = new CallersAsLabels() } = options;
  const settled = { ...options, callers };
  return {
    open(exchange) {
      const route = { route: exchange.operation?.path ?? UNMATCHED_ROUTE };
      metrics.families.requestsInFlight.add(route, 1);
      // Records and spans use wall time, the exchange monotonic time. One conversion per request keeps all intervals
      // exact.
      const request = { exchange, receivedAt: clock.wall() - clock.now() + exchange.startedAt };
      const span = tracer && openServerSpan(tracer, exchange, request.receivedAt);
      if (span) exchange.trace = { traceId: span.traceId };
      records?.begin(request);
      let open = true;
      return {
        close(end) {
          if (!open) return;
          open = false;
          metrics.families.requestsInFlight.add(route, -1);
          settle(settled, request, end, span);
        },
      } satisfies RequestRecording;
    },
  };
}

/** Each sink is guarded separately, so that a failing one affects neither the others nor the request. */
function settle(
  options: RecorderOptions & Required<Pick<RecorderOptions, 'callers'>>,
  request: OpenRequest,
  end: ReplyEnd,
  span: ServerSpan | undefined,
): void {
  const { clock, metrics, accessLog, records, models, callers } = options;
  const { exchange, receivedAt } = request;
  const guarded = <T>(task: () => T): T | undefined => guard(options.log, exchange, task);
  const record = guarded(() => recordOf(exchange, end, { endedAt: clock.now(), receivedAt }));
  // Metrics count the whole record; stored and logged records are bounded.
  const bounded = record && guarded(() => boundRecord(record));
  records?.end(request, bounded);
  if (!record) return;
  guarded(() => recordRequest(metrics.families, record, { models, callers }));
  if (bounded) guarded(() => accessLog(bounded, span?.spanId));
  guarded(() => span?.close(record));
}

function guard<T>(log: Logger, { id }: Exchange, task: () => T): T | undefined {
  try {
    return task();
  } catch (err) {
    log.error({ err, request_id: id }, 'telemetry could not record a request');
    return undefined;
  }
}
