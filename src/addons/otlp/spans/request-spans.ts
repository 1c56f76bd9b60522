import {
  createTraceState,
  ROOT_CONTEXT,
  SpanKind,
  trace,
  type AttributeValue,
  type Context,
  type HrTime,
} from '@opentelemetry/api';
import { isFromCache, type Exchange } from '../../../core/kernel/index.ts';
import type { PluginSpan } from '../../../core/kernel/outside/plugin-work.ts';
import { METHODS } from './span-fields.ts';
import { spanAttributes } from './spans.generated.ts';
import type { RecordedAttempt, RecordedPlace, RequestRecord } from '../../../core/record/record.ts';
import { SPAN } from '../../../core/record/semconv.ts';
import { readTraceparent } from '../../../core/record/traces/traceparent.ts';

/** The caller's span, from its headers, as the context of the server span. */
export type ParentOf = (exchange: Exchange) => Context;

export interface SpanOptions {
  readonly parentOf?: ParentOf;
  /** `both`: attributes also have the names of v1.41. */
  readonly semconv?: 'latest' | 'both';
}

export function w3cParent({ request }: Exchange): Context {
  const remote = readTraceparent(request.headers);
  if (!remote) return ROOT_CONTEXT;
  const { tracestate, ...place } = remote;
  const state = tracestate === undefined ? {} : { traceState: createTraceState(tracestate) };
  return trace.setSpanContext(ROOT_CONTEXT, { ...place, isRemote: true, ...state });
}

export function timeOf(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}

export function serverSpanName({ operation, request }: Exchange): string {
  const method = METHODS.has(request.method) ? request.method : 'HTTP';
  return operation ? `${method} ${operation.path}` : method;
}

/** A span as both forms write it. Times are in milliseconds after the request's arrival. */
export interface SpanParts<A> {
  readonly name: string;
  readonly kind: SpanKind;
  readonly startedMs: number;
  readonly durationMs: number;
  readonly attributes: readonly A[];
  /** Further attributes, in any number: those of a plugin, metadata. */
  readonly more: readonly (readonly [key: string, value: AttributeValue])[];
  /** The number of `attributes`, which only a span with many further ones needs. */
  readonly count: () => number;
  readonly isError: boolean;
}

/** Writes a span below `parent`, after the spans in it, which `inside` writes below the span itself. */
type WriteSpan<A, P> = (span: SpanParts<A>, parent: P, inside?: (own: P) => void) => void;

/** The attributes of spans in one form: objects for OpenTelemetry's SDK, or bytes. */
export type AttributesOf<A> = {
  readonly [Table in keyof typeof spanAttributes]: (of: Parameters<(typeof spanAttributes)[Table]>[0]) => A;
};

const none = (): number => 0;

export function spansIn<A>({ server, inference, place, attempt: attemptOnly, ...of }: AttributesOf<A>) {
  const { earlier, address, call, resent, tried } = of;
  return {
    /** A 4xx is the client's error: a server span leaves its status unset (HTTP semantic conventions, "Status"). */
    server: (name: string, record: RequestRecord): SpanParts<A> => ({
      name,
      kind: SpanKind.SERVER,
      startedMs: 0,
      durationMs: record.durationMs,
      attributes: [server(record)],
      more: Object.entries(record.metadata ?? {}).map(([key, value]) => [SPAN.metadata + key, value]),
      count: () => Object.keys(spanAttributes.server(record)).length,
      isError: record.outcome === 'error' && record.outcomeStatus >= 500,
    }),

    /** One inference span for each attempt, with one HTTP span for each physical try in it. */
    attempts<P>(record: RequestRecord, isBoth: boolean, parent: P, write: WriteSpan<A, P>): void {
      for (const attempt of record.attempts) {
        if (!isInference(record, attempt)) continue;
        const { url, model } = attempt.place;
        const attributes = [inference(record), place(attempt.place), address(url), attemptOnly(attempt)];
        if (isBoth) attributes.push(earlier(attempt));
        write(clientSpan(`${record.semconvName} ${model}`, attempt, attributes), parent, (own) => {
          let sent = 0;
          for (const one of attempt.tries) {
            if (one.resent) sent += 1;
            write(clientSpan('POST', one, [call(url), resent(sent), tried(one)]), own);
            sent += 1;
          }
        });
      }
    },

    /** The span of a plugin. @param from when the request arrived, by the clock of the span */
    ofPlugin: ({ name, startedAt, durationMs, attributes, isError }: PluginSpan, from: number): SpanParts<A> => ({
      name,
      kind: SpanKind.INTERNAL,
      startedMs: startedAt - from,
      durationMs,
      attributes: [],
      more: attributes,
      count: none,
      isError,
    }),
  };
}

type Timed = Pick<RecordedAttempt, 'errorType' | 'startedMs' | 'durationMs'>;

function clientSpan<A>(name: string, { errorType, startedMs, durationMs }: Timed, attributes: A[]): SpanParts<A> {
  const isError = errorType !== '';
  return { name, kind: SpanKind.CLIENT, startedMs, durationMs, attributes, more: [], count: none, isError };
}

type Inference = RecordedAttempt & { readonly place: RecordedPlace };

/** Without a target, with a cached reply or an estimated count there was no inference: the server span tells it. */
const isInference = ({ semconvName }: RequestRecord, attempt: RecordedAttempt): attempt is Inference =>
  attempt.place !== undefined && semconvName !== undefined && !isFromCache(attempt) && !attempt.estimated;
