import { isFromCache } from '../../kernel/index.ts';
import type { RecordedAttempt, RequestRecord } from '../record.ts';
import type { AnyFamily } from './families.ts';
import { ATTEMPT_STEPS, REQUEST_STEPS } from './measures.ts';
import { OTHER, type AttemptSeries } from './metric-spec.ts';
import type { Families } from './metrics.ts';
import type { LabelledCallers, LabelledModels } from './request-metrics.ts';

interface LabelSources {
  readonly models: LabelledModels;
  readonly callers: LabelledCallers;
}

const valueOf = <T>(
  { counts, value }: { counts?: keyof T | undefined; value?: unknown },
  of: T,
): number | undefined => {
  if (counts !== undefined) return of[counts] ? 1 : undefined;
  // A row has the name of a property with a number, or a function.
  return (typeof value === 'function' ? value(of) : of[value as keyof T]) as number | undefined;
};

/** Counts a record as the rows of the table say, as plainly as possible: the generated code counts the same. */
export function countByTable(families: Families, record: RequestRecord, { models, callers }: LabelSources): void {
  const caller = callers.labelsOf(record);
  const { spanId, traceId, receivedAt, durationMs } = record;
  const at = (receivedAt + durationMs) / 1000;
  const exemplar = record.isSampled && spanId !== undefined ? { traceId, spanId, at } : undefined;
  const familyOf = (key: keyof Families): AnyFamily => families[key];
  const noteOf = (key: keyof Families) => (labels: Readonly<Record<string, string>>, value?: number) =>
    familyOf(key).add(labels, value, caller);
  const add = (key: keyof Families, labels: Readonly<Record<string, string>>, value: number): void =>
    familyOf(key).add(labels, value, caller, exemplar);
  for (const step of REQUEST_STEPS) {
    if (step.kind === 'count') step.measure(record, noteOf(step.key));
    else {
      const value = valueOf(step.measure, record);
      if (value !== undefined) add(step.key, step.measure.labels(record), value);
    }
  }
  for (const attempt of record.attempts) {
    if (!attempt.place) continue;
    const by = seriesOf(record, attempt, models);
    const usage = attempt.answered ? attempt.usage : undefined;
    const isInTokens = usage && usage.seconds === undefined && (!usage.images || usage.total > 0);
    for (const step of ATTEMPT_STEPS) {
      if (step.kind === 'count') step.measure(attempt, by, noteOf(step.key));
      else if (step.kind === 'try') {
        for (const one of attempt.tries) {
          const value = valueOf(step.measure, one);
          if (value !== undefined) add(step.key, step.measure.labels({ ...by, outcome: one.outcome }), value);
        }
      } else {
        let value: number | undefined;
        if (step.kind === 'attempt') value = valueOf(step.measure, attempt);
        else if (step.kind === 'usage') value = usage?.[step.measure.value] || undefined;
        else value = isInTokens ? usage?.[step.measure.value] : undefined;
        if (value !== undefined) add(step.key, step.measure.labels(by), value);
      }
    }
  }
}

function seriesOf(record: RequestRecord, attempt: RecordedAttempt, models: LabelledModels): AttemptSeries {
  const { provider, model, modelLabel } = attempt.place!;
  const status = attempt.tries.at(-1)?.status ?? 0;
  const isAnswer = attempt.answered && (isFromCache(attempt) || (status >= 200 && status < 300));
  return {
    provider,
    request_model: modelLabel === OTHER && isAnswer ? models.answered(model, record.keyId ?? '') : modelLabel,
    operation: record.semconvName ?? '',
    outcome: attempt.outcome,
    errorType: attempt.errorType,
    failureKind: attempt.failure?.kinds[0],
    substitution: attempt.substitution,
    costSource: attempt.cost?.source,
    costUnknown: attempt.cost?.unknown,
  };
}
