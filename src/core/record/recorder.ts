import type { Logger } from 'pino';
import type { Clock, ReplyEnd } from '../../plugin/index.ts';
import type { Recorder } from '../kernel/index.ts';
import type { AccessLog } from './log/access-log.ts';
import { boundRecord, type BoundedRecord } from './bounded-record.ts';
import type { EndedRequest, EndedRequests } from './ended-requests.ts';
import { CallersAsLabels } from './metrics/caller-labels.ts';
import { RequestMetrics, type LabelledCallers, type LabelledModels } from './metrics/request-metrics.ts';
import type { OpenRequest, RecordStore } from './store.ts';
import type { RecordFiles } from './files/record-files.ts';
import { recordOf } from './make-record.ts';
import type { Payer, RequestPrices } from './costs.ts';
import type { RequestRecord } from './record.ts';
import { UNMATCHED_ROUTE } from './metrics/metric-spec.ts';
import type { GaugeSeries } from './metrics/series.ts';
import type { Metrics } from './metrics/registry.ts';
import type { OpenSpan, ServerSpan } from './telemetry.ts';

/** Where the costs of ended requests are written. */
export interface CostLedger {
  add(record: RequestRecord, payer: Payer): void;
}

interface RecorderOptions {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly models: LabelledModels;
  /** Default: the id of the key alone. */
  readonly callers?: LabelledCallers;
  readonly accessLog: AccessLog;
  /** The prices in force when a request began, in monotonic milliseconds, and where costs are written. Default: no costs. */
  readonly costs?:
    | { readonly prices: (startedAt: number) => RequestPrices; readonly ledger?: CostLedger | undefined }
    | undefined;
  /** Receives errors of telemetry itself. */
  readonly log: Logger;
  /** Undefined: no spans. */
  readonly openSpan?: OpenSpan | undefined;
  /** Counts the metrics of OpenTelemetry's conventions. Undefined: none are exported. */
  readonly countSemconv?: ((record: RequestRecord) => void) | undefined;
  /** Undefined: no records are stored. */
  readonly records?: RecordStore | undefined;
  /** Writes records into files. Undefined: no files. */
  readonly recordFiles?: Pick<RecordFiles, 'write'> | undefined;
  /** Called with each record. */
  readonly alsoTo?: ((record: RequestRecord, bounded: BoundedRecord) => void) | undefined;
  /** Holds ended requests until they are written. */
  readonly ended: EndedRequests;
}

/** Records a request once, when its reply has been sent: no work per chunk, no ambient context. */
export function createRecorder(options: RecorderOptions): Recorder {
  const { clock, metrics, openSpan, records, log, ended, costs: { prices, ledger } = {} } = options;
  ended.writeWith(createWriter(options));
  const inFlightOf = inFlightByRoute(metrics);
  return {
    open(exchange) {
      const inFlight = inFlightOf(exchange.operation?.path ?? UNMATCHED_ROUTE);
      inFlight?.add(1);
      // Records and spans use wall time, the exchange monotonic time: one conversion keeps all intervals exact.
      const request: OpenRequest = {
        exchange,
        receivedAt: clock.wall() - clock.now() + exchange.startedAt,
        list: undefined,
        older: undefined,
        newer: undefined,
      };
      // A request pays the prices with which it began, though they may be replaced while it runs.
      const inForce = prices?.(exchange.startedAt);
      const span = openSpan?.(exchange, request.receivedAt);
      if (span) exchange.trace = { traceId: span.traceId, addSpan: span.addSpan };
      records?.begin(request);
      let open = true;
      return {
        close(end) {
          if (!open) return;
          open = false;
          inFlight?.add(-1);
          records?.end(request);
          try {
            ended.add(endedRequest(request, end, span, { clock, prices: inForce, hasLedger: ledger !== undefined }));
          } catch (err) {
            reportFailure(log, exchange.id, err);
          }
        },
      };
    },
  };
}

/** Finds the series of a route once. Routes are those of the operations. */
function inFlightByRoute({ families }: Metrics): (route: string) => GaugeSeries | undefined {
  const found = new Map<string, GaugeSeries>();
  return (route) => {
    const known = found.get(route);
    if (known) return known;
    families.requestsInFlight.add({ route }, 0);
    const series = families.requestsInFlight.held({ route });
    if (series) found.set(route, series);
    return series;
  };
}

/** The record is made at once, because the exchange may still change and must be freed. */
function endedRequest(
  { exchange, receivedAt }: OpenRequest,
  end: ReplyEnd,
  span: ServerSpan | undefined,
  { clock, prices, hasLedger }: EndContext,
): EndedRequest {
  const times = { endedAt: clock.now(), receivedAt };
  const record = recordOf(exchange, end, times, { spanId: span?.spanId, isSampled: span?.isSampled, prices });
  const payer = hasLedger && exchange.attempts.length > 0 ? prices?.payerOf(exchange, receivedAt) : undefined;
  return { record, bounded: boundRecord(record), span, payer, wallMs: clock.wall() };
}

interface EndContext {
  readonly clock: Clock;
  readonly prices: RequestPrices | undefined;
  readonly hasLedger: boolean;
}

/**
 * Writes one output of all requests before the next one. Each is guarded, so that a failure affects no other. Metrics
 * and spans have the whole record; stored and logged records are bounded.
 */
function createWriter(options: RecorderOptions): (all: readonly EndedRequest[]) => void {
  const {
    metrics,
    models,
    callers = new CallersAsLabels(),
    accessLog,
    records,
    recordFiles,
    countSemconv,
    openSpan,
    alsoTo,
    costs: { ledger } = {},
    log,
  } = options;
  const requestMetrics = new RequestMetrics(metrics.families, { models, callers });
  const outputs: readonly ((ended: EndedRequest) => void)[] = [
    ...(ledger ? [({ record, payer }: EndedRequest) => payer && ledger.add(record, payer)] : []),
    ({ record }) => requestMetrics.count(record),
    ...(countSemconv ? [({ record }: EndedRequest) => countSemconv(record)] : []),
    ({ bounded, wallMs }) => accessLog(bounded, wallMs),
    ...(records ? [({ bounded }: EndedRequest) => records.keep(bounded)] : []),
    ...(recordFiles ? [({ bounded }: EndedRequest) => recordFiles.write(bounded)] : []),
    ...(alsoTo ? [({ record, bounded }: EndedRequest) => alsoTo(record, bounded)] : []),
    ...(openSpan ? [({ record, span }: EndedRequest) => span?.close(record)] : []),
  ];
  return (all) => {
    for (const output of outputs)
      for (const ended of all)
        try {
          output(ended);
        } catch (err) {
          reportFailure(log, ended.record.id, err);
        }
  };
}

function reportFailure(log: Logger, requestId: string, err: unknown): void {
  log.error({ err, request_id: requestId }, 'telemetry could not record a request');
}
