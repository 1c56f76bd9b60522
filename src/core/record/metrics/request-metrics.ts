import { isFromCache } from '../../kernel/index.ts';
import type { RecordedAttempt, RecordedPlace, RequestOutcome, RequestRecord } from '../record.ts';
import { countAttempt, countRequest, GENERATED } from './count.generated.ts';
import { CounterFamily, type AnyFamily } from './families.ts';
import { KnownCells, type AttemptCells, type SeriesCells, type Counting, type MetricKey } from './known-cells.ts';
import { ATTEMPT_STEPS, REQUEST_STEPS } from './measures.ts';
import {
  NO_CALLER,
  OTHER,
  type AttemptSeries,
  type CallerLabels,
  type Note,
  type RequestSeries,
  type TrySeries,
} from './metric-spec.ts';
import { METRICS, openFamilies, type Families } from './metrics.ts';
import type { Exemplar, Series } from './series.ts';

export interface LabelledCallers {
  labelsOf(record: RequestRecord): CallerLabels;
}

export interface LabelledModels {
  /** Returns the label of a name that an upstream has answered with a 2xx, which may become a label now. */
  answered(model: string, keyId: string): string;
}

interface LabelSources {
  readonly models: LabelledModels;
  readonly callers: LabelledCallers;
}

/**
 * Counts records as the rows of the table say. Alike requests of a caller share the series that they add to: finding those of the
 * twenty values of a request anew takes 10 µs (measured).
 */
export class RequestMetrics implements Counting {
  readonly #families: Families;
  readonly #sources: LabelSources;
  readonly #requests = new KnownCells<SeriesCells<RequestSeries>>();
  readonly #attempts = new KnownCells<AttemptCells<AttemptSeries>>();
  readonly notes: Counting['notes'];
  /** Whose request is being counted. Counting is synchronous. */
  #caller = NO_CALLER;
  exemplar: Exemplar | undefined;

  constructor(families: Families, sources: LabelSources) {
    if (REQUEST_STEPS.length !== GENERATED.requests || ATTEMPT_STEPS.length !== GENERATED.attempts)
      throw new Error('the table of metrics has changed: run `npm run generate`');
    this.#families = families;
    this.#sources = sources;
    const notes = Object.keys(METRICS).map((key) => {
      const family: AnyFamily = families[key as MetricKey];
      const note: Note<string> = (labels, value) => family.add(labels, value, this.#caller);
      return [key, note] as const;
    });
    // One for each key.
    this.notes = Object.fromEntries(notes) as Counting['notes'];
  }

  count(record: RequestRecord): void {
    const caller = this.#sources.callers.labelsOf(record);
    this.#caller = caller;
    this.exemplar = record.isSampled ? exemplarOf(record) : undefined;
    countRequest(record, this.#cellsOf(record), this);
    for (const attempt of record.attempts)
      if (attempt.place) countAttempt(attempt, this.#cellsOfAttempt(record, attempt, attempt.place), this);
  }

  #cellsOf(record: RequestRecord): SeriesCells<RequestSeries> {
    const { route, outcomeStatus, stream, cache, rejection, disconnectStage, errorCode } = record;
    const known = this.#requests.of(this.#caller, route ?? '');
    for (const cells of known) {
      const { by } = cells;
      const isSame =
        by.route === route &&
        by.outcomeStatus === outcomeStatus &&
        by.stream === stream &&
        by.cache === cache &&
        by.rejection === rejection &&
        by.disconnectStage === disconnectStage &&
        by.errorCode === errorCode;
      if (isSame) return cells;
    }
    const by = { route, outcomeStatus, stream, cache, rejection, disconnectStage, errorCode };
    return this.#requests.add(known, { by, series: [] });
  }

  #cellsOfAttempt(
    { keyId, semconvName: operation = '' }: RequestRecord,
    attempt: RecordedAttempt,
    { provider, model, modelLabel }: RecordedPlace,
  ): AttemptCells<AttemptSeries> {
    const { outcome, errorType, failure, substitution, cost } = attempt;
    const isNew = modelLabel === OTHER && isAnswer(attempt);
    const request_model = isNew ? this.#sources.models.answered(model, keyId ?? '') : modelLabel;
    const failureKind = failure?.kinds[0];
    const known = this.#attempts.of(this.#caller, request_model);
    for (const cells of known) {
      const { by } = cells;
      const isSame =
        by.provider === provider &&
        by.request_model === request_model &&
        by.operation === operation &&
        by.outcome === outcome &&
        by.errorType === errorType &&
        by.failureKind === failureKind &&
        by.substitution === substitution &&
        by.costSource === cost?.source &&
        by.costUnknown === cost?.unknown;
      if (isSame) return cells;
    }
    const ends = {
      outcome,
      errorType,
      failureKind,
      substitution,
      costSource: cost?.source,
      costUnknown: cost?.unknown,
    };
    const by: AttemptSeries = { provider, request_model, operation, ...ends };
    return this.#attempts.add(known, { by, series: [], ofTries: {} });
  }

  first(step: number, by: RequestSeries, value: number): Series | undefined {
    const { kind, key, measure } = REQUEST_STEPS[step]!;
    return kind === 'request' ? this.#first(key, measure.labels(by), value) : undefined;
  }

  firstOfAttempt(step: number, by: AttemptSeries, value: number): Series | undefined {
    const { kind, key, measure } = ATTEMPT_STEPS[step]!;
    return kind === 'count' || kind === 'try' ? undefined : this.#first(key, measure.labels(by), value);
  }

  firstOfTry(step: number, by: AttemptSeries, outcome: RequestOutcome, value: number): Series | undefined {
    const { kind, key, measure } = ATTEMPT_STEPS[step]!;
    const ofTry: TrySeries = { ...by, outcome };
    return kind === 'try' ? this.#first(key, measure.labels(ofTry), value) : undefined;
  }

  #first(key: MetricKey, labels: Readonly<Record<string, string>>, value: number): Series | undefined {
    const family: AnyFamily = this.#families[key];
    family.add(labels, value, this.#caller, this.exemplar);
    return family.held(labels, this.#caller);
  }
}

function exemplarOf({ traceId, spanId, receivedAt, durationMs }: RequestRecord): Exemplar | undefined {
  if (spanId === undefined) return undefined;
  return { traceId, spanId, at: (receivedAt + durationMs) / 1000 };
}

/** Whether the upstream answered with a 2xx, even if its reply failed later. A cached reply was such an answer. */
function isAnswer(attempt: RecordedAttempt): boolean {
  const status = attempt.tries.at(-1)?.status ?? 0;
  return attempt.answered && (isFromCache(attempt) || (status >= 200 && status < 300));
}

interface CounterLabels {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The counters that a record adds to. It is counted in separate families that are never scraped. */
export function countersOf(record: RequestRecord, sources: LabelSources): readonly CounterLabels[] {
  const families = openFamilies();
  new RequestMetrics(families, sources).count(record);
  return Object.values(families).flatMap((family) =>
    family instanceof CounterFamily ? family.labelSets.map((labels) => ({ name: family.name, labels })) : [],
  );
}
