import { CounterFamily, OTHER } from './families.ts';
import { knownParam } from '../known-params.ts';
import { openFamilies, UNMATCHED_ROUTE, type Families } from './open-families.ts';
import type { RecordedAttempt, RecordedTry, RequestRecord } from '../record.ts';

interface ModelLabels {
  readonly provider: string;
  readonly request_model: string;
  readonly operation: string;
}

/** The model names that are metric labels. */
export interface LabelledModels {
  /** Returns the label of a name that an upstream has answered with a 2xx, which may become a label now. */
  answered(model: string, keyId: string): string;
}

export function recordRequest(families: Families, record: RequestRecord, models: LabelledModels): void {
  const { durationMs, overheadMs, bytesIn, bytesOut, rejection, disconnectStage, attempts } = record;
  const route = record.route ?? UNMATCHED_ROUTE;
  const outcome = { route, status_class: statusClass(record.outcomeStatus), stream: String(record.stream) };
  families.requests.add({ ...outcome, cache: record.cache ?? '' });
  families.requestDuration.observe(outcome, durationMs / 1000);
  if (disconnectStage) families.clientDisconnects.add({ route, stage: disconnectStage });
  else families.requestOverhead.observe({ route }, overheadMs / 1000);
  if (bytesIn > 0) families.requestBodyBytes.observe({ route }, bytesIn);
  families.responseBodyBytes.observe({ route }, bytesOut);
  if (rejection) families.requestsRejected.add({ route, reason: rejection });
  recordFallbacks(families, attempts);
  for (const attempt of attempts) {
    const { place } = attempt;
    if (!place) recordAttempt(families, attempt, undefined);
    else {
      const request_model =
        place.modelLabel === OTHER && isAnswer(attempt)
          ? models.answered(place.model, record.keyId ?? '')
          : place.modelLabel;
      recordAttempt(families, attempt, {
        provider: place.provider,
        request_model,
        operation: record.semconvName ?? '',
      });
    }
  }
}

/**
 * Whether the upstream answered with a 2xx, even if the rest of its reply failed. A cached reply was such an answer.
 */
function isAnswer({ answered, cache, tries }: RecordedAttempt): boolean {
  const status = tries.at(-1)?.status ?? 0;
  return answered && (cache === 'hit' || cache === 'shared' || (status >= 200 && status < 300));
}

/** One series of a counter. */
export interface CounterLabels {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The counters that a record adds to. It is recorded into separate families that are never scraped. */
export function countersOf(record: RequestRecord, models: LabelledModels): readonly CounterLabels[] {
  const families = openFamilies();
  recordRequest(families, record, models);
  return Object.values(families).flatMap((family) =>
    family instanceof CounterFamily ? family.labelSets.map((labels) => ({ name: family.name, labels })) : [],
  );
}

const statusClass = (status: number): string => `${Math.trunc(status / 100)}xx`;

function recordFallbacks(families: Families, attempts: readonly RecordedAttempt[]): void {
  for (const [index, attempt] of attempts.entries()) {
    const before = attempts[index - 1];
    if (!before) continue;
    // Without a slug the provider is only the request's text, which a caller may choose freely.
    const [from_target, to_target] = [before.place?.provider ?? '', attempt.place?.provider ?? ''];
    families.fallbacks.add({ from_target, to_target, reason: before.errorType });
  }
}

function recordAttempt(families: Families, attempt: RecordedAttempt, labels: ModelLabels | undefined): void {
  const { place, cache } = attempt;
  if (cache) families.cacheRequests.add({ mode: 'exact', result: cache });
  for (const { param, action, count } of attempt.losses) {
    families.paramsLost.add({ provider: place?.provider ?? '', param: knownParam(param) ?? OTHER, action }, count);
  }
  if (!labels) return;
  const { outcome, errorType, counted } = attempt;
  if (counted) families.upstreamAttempts.add({ ...labels, outcome, error_type: errorType });
  recordTries(families, attempt, labels);
  recordPace(families, attempt, labels);
  recordTokens(families, attempt, labels);
}

function recordTries(families: Families, { tries }: RecordedAttempt, labels: ModelLabels): void {
  const { provider } = labels;
  const last = new Map<number, RecordedTry>();
  for (const record of tries) {
    const { call, durationMs, inLineMs, outcome, resent } = record;
    if (inLineMs !== undefined) families.poolWait.observe({ provider }, inLineMs / 1000);
    families.upstreamDuration.observe({ ...labels, outcome }, durationMs / 1000);
    if (resent) families.upstreamRetries.add({ provider, reason: 'stale_connection' });
    const before = last.get(call);
    last.set(call, record);
    // A call that was cancelled by another call's failure is sent again with it, but did not fail itself.
    if (before && before.outcome !== 'aborted') families.upstreamRetries.add({ provider, reason: before.errorType });
  }
}

function recordPace(families: Families, attempt: RecordedAttempt, labels: ModelLabels): void {
  const { stream, answered, outcome, firstContentMs, usage, tries } = attempt;
  const last = tries.at(-1);
  if (!stream || !answered || firstContentMs === undefined || !last) return;
  families.upstreamFirstChunk.observe(labels, firstContentMs / 1000);
  const more = (usage?.output ?? 0) - 1;
  if (outcome !== 'success' || more < 1) return;
  families.upstreamPerToken.observe(labels, (last.durationMs - firstContentMs) / 1000 / more);
}

/**
 * Callers are charged by tokens, so only the attempt that answered counts. The record contains the tokens of all
 * attempts.
 */
function recordTokens(families: Families, { usage, answered }: RecordedAttempt, labels: ModelLabels): void {
  if (!usage || !answered) return;
  const { input, output, cacheRead, cacheWrite, reasoning } = usage;
  families.requestTokens.observe({ ...labels, type: 'input' }, input);
  families.requestTokens.observe({ ...labels, type: 'output' }, output);
  const add = (type: string, count: number | undefined): void => {
    if (count !== undefined) families.tokens.add({ ...labels, type }, count);
  };
  add('input', input);
  add('output', output);
  add('cache_read', cacheRead);
  add('cache_write', cacheWrite);
  add('reasoning', reasoning);
}
