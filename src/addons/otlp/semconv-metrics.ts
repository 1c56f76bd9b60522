import type { Usage } from '../../formats/events.ts';
import { CounterFamily, HistogramFamily } from '../../core/record/metrics/families.ts';
import { DURATION_BUCKETS, type MetricSpec } from '../../core/record/metrics/metric-spec.ts';
import type { RecordedAttempt, RequestRecord } from '../../core/record/record.ts';
import { SPAN } from '../../core/record/semconv.ts';
import { METHODS } from './spans/span-fields.ts';
import { isFromCache } from '../../core/kernel/index.ts';
import type { Semconv } from './otel-settings.ts';

type SemconvLabels = Readonly<Record<string, string>>;
type AddValue = (labels: SemconvLabels, value: number) => void;
type SemconvSpec = MetricSpec & { readonly type: 'counter' | 'histogram'; readonly unit: string };

interface Row {
  /** Undefined: the conventions have only `earlier`. */
  readonly latest?: SemconvSpec;
  readonly earlier?: readonly SemconvSpec[];
  readonly count: (attempt: RecordedAttempt, labels: SemconvLabels, note: AddValue) => void;
  /** Operations that generate texts, or all others. Default: both. */
  readonly of?: 'inference' | 'others';
}

/** The conventions' 14 bounds of durations. */
const SECONDS = DURATION_BUCKETS.slice(0, 14);
const TOKENS = Array.from({ length: 14 }, (_, index) => 4 ** index);
const FIRST_TOKEN = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const PER_TOKEN = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5];

/** The conventions' operations with a duration of their own; `gen_ai.client.operation.duration` is that of the others. */
const INFERENCE: ReadonlySet<string> = new Set(['chat', 'text_completion', 'generate_content']);

const MODEL = [SPAN.operationName, SPAN.providerName, SPAN.requestModel];

const seconds = (name: string, help: string, buckets: readonly number[], ...more: readonly string[]): SemconvSpec => ({
  type: 'histogram',
  name,
  help,
  unit: 's',
  labels: [...MODEL, ...more],
  buckets,
});
const tokens = (name: string, help: string): SemconvSpec => ({
  type: 'counter',
  name,
  help,
  unit: '{token}',
  labels: [...MODEL, 'gen_ai.token.modality'],
});
const tokensOfCall = (name: string, help: string, ...more: readonly string[]): SemconvSpec => ({
  type: 'histogram',
  name,
  help,
  unit: '{token}',
  labels: [...MODEL, SPAN.errorType, ...more],
  buckets: TOKENS,
});

const OPERATION_DURATION = seconds(
  'gen_ai.client.operation.duration',
  'Duration of operations.',
  SECONDS,
  SPAN.errorType,
);
const SERVER_DURATION = seconds('gen_ai.server.request.duration', 'Duration of calls.', SECONDS, SPAN.errorType);
const TOKEN_USAGE = tokensOfCall('gen_ai.client.token.usage', 'Tokens of calls.', 'gen_ai.token.type');

const countDuration: Row['count'] = ({ durationMs, errorType }, labels, note) =>
  note({ ...labels, [SPAN.errorType]: errorType }, durationMs / 1000);

const countFirstChunk: Row['count'] = ({ stream, answered, firstContentMs }, labels, note) => {
  if (stream && answered && firstContentMs !== undefined) note(labels, firstContentMs / 1000);
};

const countPerToken: Row['count'] = ({ stream, outcome, firstContentMs, tries, usage }, labels, note) => {
  const last = tries.at(-1);
  const more = (usage?.output ?? 0) - 1;
  if (!stream || outcome !== 'success' || firstContentMs === undefined || !last || more < 1) return;
  note(labels, (last.durationMs - firstContentMs) / 1000 / more);
};

/** Callers pay for the attempt that answered. Transcriptions count seconds, not tokens. */
const usageOf = ({ answered, usage }: RecordedAttempt): Usage | undefined =>
  answered && usage?.seconds === undefined ? usage : undefined;

/** Counts tokens by modality: what is no image and no sound is text. */
const countModalities =
  (type: 'input' | 'output'): Row['count'] =>
  (attempt, labels, note) => {
    const usage = usageOf(attempt);
    if (!usage) return;
    const { [type]: all = 0, [`${type}Image` as const]: image = 0, [`${type}Audio` as const]: audio = 0 } = usage;
    const parts = { text: all - image - audio, image, audio };
    for (const [modality, value] of Object.entries(parts))
      if (value > 0) note({ ...labels, 'gen_ai.token.modality': modality }, value);
  };

/** Vendors do not say which modality cached tokens have. */
const countUnknown =
  (type: 'cacheRead' | 'cacheWrite' | 'reasoning'): Row['count'] =>
  (attempt, labels, note) => {
    const value = usageOf(attempt)?.[type];
    if (value) note({ ...labels, ['gen_ai.token.modality']: 'unknown' }, value);
  };

const countOfCall =
  (type: 'input' | 'output'): Row['count'] =>
  (attempt, labels, note) => {
    const value = usageOf(attempt)?.[type];
    const all = { ...labels, [SPAN.errorType]: attempt.errorType, 'gen_ai.token.type': type };
    if (value !== undefined) note(all, value);
  };

const FIRST_HELP = 'Streams: from the start of the call until its first content.';

/** Every metric of attempts. `time_per_output_chunk` is missing: the gateway does no work for each chunk. */
const ROWS: readonly Row[] = [
  {
    of: 'inference',
    latest: seconds('gen_ai.client.inference.duration', 'Duration of inference calls.', SECONDS, SPAN.errorType),
    earlier: [OPERATION_DURATION, SERVER_DURATION],
    count: countDuration,
  },
  { of: 'others', latest: OPERATION_DURATION, earlier: [SERVER_DURATION], count: countDuration },
  {
    of: 'inference',
    latest: seconds('gen_ai.client.inference.time_to_first_chunk', FIRST_HELP, SECONDS),
    earlier: [
      seconds('gen_ai.client.operation.time_to_first_chunk', FIRST_HELP, SECONDS),
      seconds('gen_ai.server.time_to_first_token', FIRST_HELP, FIRST_TOKEN),
    ],
    count: countFirstChunk,
  },
  {
    of: 'inference',
    earlier: [
      seconds('gen_ai.server.time_per_output_token', 'Streams: time for each output token after the first.', PER_TOKEN),
    ],
    count: countPerToken,
  },
  {
    latest: tokens('gen_ai.client.inference.usage.input_tokens', 'Input tokens, cached ones included.'),
    count: countModalities('input'),
  },
  {
    latest: tokens('gen_ai.client.inference.usage.output_tokens', 'Output tokens, reasoning included.'),
    count: countModalities('output'),
  },
  {
    latest: tokens(
      'gen_ai.client.inference.usage.cache_read.input_tokens',
      'Input tokens that the provider read from its cache.',
    ),
    count: countUnknown('cacheRead'),
  },
  {
    latest: tokens(
      'gen_ai.client.inference.usage.cache_write.input_tokens',
      'Input tokens that the provider wrote to its cache.',
    ),
    count: countUnknown('cacheWrite'),
  },
  {
    latest: tokens('gen_ai.client.inference.usage.reasoning.output_tokens', 'Output tokens of reasoning.'),
    count: countUnknown('reasoning'),
  },
  {
    latest: tokensOfCall('gen_ai.client.inference.operation.input_tokens', 'Input tokens of one call.'),
    earlier: [TOKEN_USAGE],
    count: countOfCall('input'),
  },
  {
    latest: tokensOfCall('gen_ai.client.inference.operation.output_tokens', 'Output tokens of one call.'),
    earlier: [TOKEN_USAGE],
    count: countOfCall('output'),
  },
];

/** Their own bounds end at 10 s, which generations pass. */
const HTTP_DURATION: SemconvSpec = {
  type: 'histogram',
  name: 'http.server.request.duration',
  help: 'Duration of HTTP requests.',
  unit: 's',
  labels: [SPAN.httpMethod, SPAN.urlScheme, SPAN.httpRoute, SPAN.httpStatus, SPAN.errorType],
  buckets: DURATION_BUCKETS,
};

type SemconvFamily = CounterFamily<string> | HistogramFamily<string>;

/** The metrics of OpenTelemetry's conventions, for OTLP only, beside Gatehouse's own. */
export class SemconvMetrics {
  readonly #http: SemconvFamily;
  readonly #byName = new Map<string, SemconvFamily>();
  readonly #counts: readonly { readonly row: Row; readonly note: AddValue }[];

  constructor(semconv: Semconv) {
    this.#http = this.#open(HTTP_DURATION);
    this.#counts = ROWS.flatMap((row) => {
      const specs = [...(row.latest ? [row.latest] : []), ...(semconv === 'both' ? (row.earlier ?? []) : [])];
      if (specs.length === 0) return [];
      const families = specs.map((spec) => this.#open(spec));
      const note: AddValue = (labels, value) => {
        for (const family of families) family.add(labels, value);
      };
      return { row, note };
    });
  }

  get families(): readonly SemconvFamily[] {
    return [...this.#byName.values()];
  }

  #open(spec: SemconvSpec): SemconvFamily {
    const known = this.#byName.get(spec.name);
    if (known) return known;
    // Beyond the maximum number of label sets, values count under `__other__`.
    const family = spec.type === 'counter' ? new CounterFamily(spec, () => {}) : new HistogramFamily(spec, () => {});
    this.#byName.set(spec.name, family);
    return family;
  }

  count(record: RequestRecord): void {
    this.#http.add(httpLabels(record), record.durationMs / 1000);
    for (const attempt of record.attempts) {
      const { place, counted, estimated } = attempt;
      const operation = record.semconvName;
      if (!place || operation === undefined || !counted || estimated || isFromCache(attempt)) continue;
      const labels = {
        [SPAN.operationName]: operation,
        [SPAN.providerName]: place.semconvName,
        [SPAN.requestModel]: place.modelLabel,
      };
      const kind = INFERENCE.has(operation) ? 'inference' : 'others';
      for (const { row, note } of this.#counts)
        if (row.of === undefined || row.of === kind) row.count(attempt, labels, note);
    }
  }
}

const httpLabels = ({ method, route, status, outcome, errorType }: RequestRecord): SemconvLabels => ({
  [SPAN.httpMethod]: METHODS.has(method) ? method : '_OTHER',
  [SPAN.urlScheme]: 'http',
  [SPAN.httpRoute]: route ?? '',
  // A client that disconnected got no status.
  [SPAN.httpStatus]: outcome === 'aborted' ? '' : String(status),
  [SPAN.errorType]: errorType,
});
