import type { RecordedAttempt, RecordedTry, RequestRecord } from '../record.ts';
import type {
  AttemptSeries,
  Measure,
  MeasureOrCount,
  MetricSpec,
  Note,
  RequestSeries,
  TrySeries,
  UsageMeasure,
} from './metric-spec.ts';
import { METRICS } from './metrics.ts';

type Key = keyof typeof METRICS;

/** One value that a row of the table of metrics counts. */
interface Step<Kind extends string, M> {
  readonly kind: Kind;
  /** The key of the row. */
  readonly key: Key;
  readonly measure: M;
}

export type RequestStep =
  | Step<'count', (record: RequestRecord, note: Note<string>) => void>
  | Step<'request', MeasureOrCount<RequestSeries, RequestRecord>>;
export type AttemptStep =
  | Step<'count', NonNullable<MetricSpec['countAttempt']>>
  | Step<'attempt', MeasureOrCount<AttemptSeries, RecordedAttempt>>
  | Step<'usage' | 'tokens', UsageMeasure>
  | Step<'try', Measure<TrySeries, RecordedTry>>;

const ROWS = Object.entries(METRICS) as readonly (readonly [Key, MetricSpec])[];

/** The values that are counted of a request, in the order of the table. The generated code names a step by its place in this list. */
export const REQUEST_STEPS: readonly RequestStep[] = ROWS.flatMap(([key, { ofRequest: measure }]): RequestStep[] => {
  if (measure === undefined) return [];
  return [typeof measure === 'function' ? { kind: 'count', key, measure } : { kind: 'request', key, measure }];
});

/** Those of each attempt at a target that was found. */
export const ATTEMPT_STEPS: readonly AttemptStep[] = ROWS.flatMap(
  ([key, { countAttempt, ofAttempt, ofUsage = [], ofTokens = [], ofTry }]): AttemptStep[] => [
    ...(countAttempt ? [{ kind: 'count', key, measure: countAttempt } as const] : []),
    ...(ofAttempt ? [{ kind: 'attempt', key, measure: ofAttempt } as const] : []),
    ...ofUsage.map((measure) => ({ kind: 'usage', key, measure }) as const),
    ...ofTokens.map((measure) => ({ kind: 'tokens', key, measure }) as const),
    ...(ofTry ? [{ kind: 'try', key, measure: ofTry } as const] : []),
  ],
);
