import type { FailureKind } from '../../../plugin/index.ts';
import type { Usage } from '../../../formats/events.ts';
import type { RecordedCost } from '../costs.ts';
import type { RecordedAttempt, RecordedTry, RequestRecord } from '../record.ts';

/** The members of a row of the table of metrics besides name, labels and buckets. */
interface MetricFacts<L extends string> {
  readonly help: string;
  /**
   * A counter that also has the labels of its caller (`CallerLabels`). Never a histogram: 1,000 label sets take 330 ms to
   * render, on the event loop (measured with prom-client 15.1.3).
   */
  readonly byCaller?: true;
  /** Buckets name the trace of a request, for scrapers of OpenMetrics. Only requests whose trace is exported have one. */
  readonly exemplars?: true;
  /** The most label sets. Default: 2,000, or 20,000 with `byCaller`. */
  readonly maxSets?: number;
  /** In OpenTelemetry's exports (UCUM). Default: by the end of the name. */
  readonly unit?: string;
  /** How several processes are merged; default: sum. `primary`: its value alone, every worker has the same. */
  readonly aggregator?: 'first' | 'min' | 'max' | 'primary';
  /**
   * Series that exist from the start, at 0: an alert on a rare event needs a value before the first one. Metrics by
   * route have none: each of 60 routes would have them (measured: 250 KB of an idle scrape).
   */
  readonly zero?: readonly Readonly<Record<L, string>>[];
  readonly ofRequest?: MeasureOrCount<RequestSeries, RequestRecord, L> | CountRequest<L>;
  /** The counts of every attempt at a target that was found, then its value. */
  readonly countAttempt?: CountAttempt<L>;
  readonly ofAttempt?: MeasureOrCount<AttemptSeries, RecordedAttempt, L>;
  /** A count of what an attempt that answered has used; 0 is not counted. */
  readonly ofUsage?: readonly UsageMeasure<L>[];
  /** Tokens of the same, 0 too, unless the model counts seconds or pictures, and no tokens. */
  readonly ofTokens?: readonly UsageMeasure<L>[];
  readonly ofTry?: Measure<TrySeries, RecordedTry, L>;
}

export interface MetricSpec<L extends string = string, T = 'counter' | 'gauge' | 'histogram'> extends MetricFacts<L> {
  readonly type: T;
  readonly name: string;
  readonly labels: readonly L[];
  readonly buckets?: readonly number[];
}

interface MetricRow<N extends string, L extends string, B extends readonly number[]> extends MetricFacts<NoInfer<L>> {
  readonly name: N;
  readonly labels?: readonly L[];
  readonly buckets?: B;
}

type TypeOf<N, B> = N extends `${string}_total` ? 'counter' : [B] extends [never] ? 'gauge' : 'histogram';

/** A row of the table of metrics. A name that ends in `_total` is that of a counter, and buckets make a histogram. */
export function metric<
  const N extends string,
  const L extends string = never,
  const B extends readonly number[] = never,
>(row: MetricRow<N, L, B>): MetricSpec<L, TypeOf<N, B>> {
  const type = row.name.endsWith('_total') ? 'counter' : row.buckets ? 'histogram' : 'gauge';
  return { labels: [], ...row, type: type as TypeOf<N, B> };
}

/** One value of a metric. Its labels depend on few fields, `By`: equal requests share a known series. */
export interface Measure<By, T, L extends string = string> {
  readonly labels: (by: By) => Readonly<Record<L, string>>;
  /** The property that has the value, or a function of the object. Undefined: nothing is recorded. */
  readonly value: NumberOf<T> | ((of: T) => number | undefined);
}

export type UsageMeasure<L extends string = string> = Pick<Measure<AttemptSeries, Usage, L>, 'labels'> & {
  readonly value: NumberOf<Usage>;
};

/** The same as `Measure`, or 1 for each object with a value in this property. */
export type MeasureOrCount<By, T, L extends string = string> =
  | (Measure<By, T, L> & { readonly counts?: undefined })
  | (Pick<Measure<By, T, L>, 'labels'> & { readonly counts: keyof T });

type NumberOf<T> = { [K in keyof T]-?: T[K] extends number | undefined ? K : never }[keyof T];

/** The fields of a request that decide its series. `requestKey` has the same. */
export type RequestSeries = Pick<
  RequestRecord,
  'route' | 'outcomeStatus' | 'stream' | 'cache' | 'rejection' | 'disconnectStage' | 'errorCode'
>;
/** The fields of an attempt that decide its series. `attemptKey` has the same. */
export type AttemptSeries = AttemptLabels &
  Pick<RecordedAttempt, 'outcome' | 'errorType' | 'substitution'> & {
    /** The cause of a failed attempt. That it happened inside a stream is a second kind. */
    readonly failureKind: FailureKind | undefined;
    readonly costSource: RecordedCost['source'] | undefined;
    readonly costUnknown: RecordedCost['unknown'];
  };

/** The fields of a try that decide its series, with the outcome of the try. */
export type TrySeries = AttemptLabels & Pick<RecordedTry, 'outcome'>;

/** Counts any number of values, with any labels: for what few requests have. */
type CountRequest<L extends string> = (record: RequestRecord, note: Note<L>) => void;
type CountAttempt<L extends string> = (attempt: RecordedAttempt, labels: AttemptLabels, note: Note<L>) => void;

/** Adds to a counter. Default: 1. */
export type Note<L extends string> = (labels: Readonly<Record<L, string>>, value?: number) => void;

/** Labels of an attempt. They belong together. */
export const MODEL_LABELS = ['provider', 'request_model', 'operation'] as const;
export type AttemptLabels = Readonly<Record<(typeof MODEL_LABELS)[number], string>>;

export const modelOf = ({ provider, request_model, operation }: AttemptLabels): AttemptLabels => ({
  provider,
  request_model,
  operation,
});

/** The label of every `byCaller` metric: the id of the gateway key, empty without one. */
export const KEY_ID = 'key_id';

export const TEAM = 'team';

/** The labels of a metric that every series has. Labels of the team and of metadata come on top, where a request has a value. */
export const labelsOf = ({ labels, byCaller }: MetricSpec): readonly string[] =>
  byCaller ? [...labels, KEY_ID] : labels;

export interface CallerLabels {
  /** Distinguishes callers; never the same text for different labels. */
  readonly key: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The caller of requests without a key, and of series at 0. */
export const NO_CALLER: CallerLabels = { key: '', labels: { [KEY_ID]: '' } };

/** Values recorded under it belong to label values without a series of their own. */
export const OTHER = '__other__';

/** Route label of unknown paths: client input never becomes a label. */
export const UNMATCHED_ROUTE = 'unmatched';

export const each = <L extends string>(label: L, values: readonly string[]): Readonly<Record<L, string>>[] =>
  values.map((value) => ({ [label]: value }) as Record<L, string>);

/** Rounds fractions to the exact decimal (0.01 · 2 ** 3 is 0.08); integers are exact. */
const powers = (count: number, base: number, first: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => Number((first * base ** index).toPrecision(12)));

/** 10 ms to 655 s: OpenTelemetry's 14 bounds for generation and three more, because models may think for minutes. */
export const DURATION_BUCKETS = powers(17, 2, 0.01);
export const OVERHEAD_BUCKETS = [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1];
/** 10 µs, of a plugin that reads a header, to the 655 s of one that waits for a model. */
export const DURATION_OF_PLUGINS = powers(14, 4, 0.00001);
/** OpenTelemetry's bounds of gen_ai.server.time_per_output_token, and two smaller ones for faster models. */
export const PER_TOKEN_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5];
/** OpenTelemetry's bounds of token counts, up to the million that long contexts reach. */
export const TOKEN_BUCKETS = powers(11, 4, 1);
/** 256 B to 64 MiB: the default `limits.body` is 48 MiB. */
export const BYTE_BUCKETS = powers(10, 4, 256);
