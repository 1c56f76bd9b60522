import { ROOT_CONTEXT, SeverityNumber, trace, TraceFlags, type Logger } from '@opentelemetry/api';

/** Members of a line that a log record has as fields of its own. */
interface LogLine {
  readonly level: string;
  readonly time: string;
  readonly msg?: string;
  readonly component?: string;
  readonly trace_id?: string;
  readonly span_id?: string;
}

const SEVERITY: Readonly<Record<string, SeverityNumber>> = {
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
};

/**
 * Exports lines of the log as log records. They are the lines of standard output, credentials masked, so that the two
 * cannot differ. Lines about exports themselves stay out: a collector that refuses them would cause the next one.
 */
export function createLineEmitter(logger: Logger): (line: string) => void {
  return (line) => {
    // The log's own writers wrote the line: an object with these members.
    const { level, time, msg, trace_id, span_id, ...others } = JSON.parse(line) as LogLine;
    if (others.component === 'opentelemetry') return;
    const isTraced = trace_id !== undefined && span_id !== undefined;
    logger.emit({
      timestamp: new Date(time),
      severityText: level,
      severityNumber: SEVERITY[level] ?? SeverityNumber.UNSPECIFIED,
      body: msg ?? '',
      attributes: isTraced || trace_id === undefined ? others : { ...others, trace_id },
      context: isTraced
        ? trace.setSpanContext(ROOT_CONTEXT, { traceId: trace_id, spanId: span_id, traceFlags: TraceFlags.NONE })
        : ROOT_CONTEXT,
    });
  };
}
