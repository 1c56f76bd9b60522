import { OTHER } from './families.ts';
import { knownParam } from './known-params.ts';
import { UNMATCHED_ROUTE, type Metrics } from './registry.ts';
import type { AttemptSummary, RequestSummary } from './summary.ts';

type Families = Metrics['families'];

interface ModelLabels {
  readonly provider: string;
  readonly request_model: string;
  readonly operation: string;
}

export function recordRequest(families: Families, summary: RequestSummary): void {
  const { exchange, durationMs, overheadMs, bytesOut, rejection, disconnectStage } = summary;
  const route = exchange.operation?.path ?? UNMATCHED_ROUTE;
  const outcome = { route, status_class: statusClass(summary.outcomeStatus), stream: String(summary.stream) };
  families.requests.add({ ...outcome, cache: summary.cache ?? '' });
  families.requestDuration.observe(outcome, durationMs / 1000);
  if (disconnectStage) families.clientDisconnects.add({ route, stage: disconnectStage });
  else families.requestOverhead.observe({ route }, overheadMs / 1000);
  if (exchange.request.bodyBytes > 0) families.requestBodyBytes.observe({ route }, exchange.request.bodyBytes);
  families.responseBodyBytes.observe({ route }, bytesOut);
  if (rejection) families.requestsRejected.add({ route, reason: rejection });
  recordFallbacks(families, summary.attempts);
  const operation = exchange.operation?.semconvName ?? '';
  for (const attempt of summary.attempts) recordAttempt(families, attempt, operation);
}

const statusClass = (status: number): string => `${Math.trunc(status / 100)}xx`;

function recordFallbacks(families: Families, attempts: readonly AttemptSummary[]): void {
  for (const [index, attempt] of attempts.entries()) {
    const before = attempts[index - 1];
    if (!before) continue;
    // Without a slug there is only what the request named as its provider, which anybody may type.
    const [from_target, to_target] = [before.resolved?.slug ?? '', attempt.resolved?.slug ?? ''];
    families.fallbacks.add({ from_target, to_target, reason: before.errorType });
  }
}

function recordAttempt(families: Families, attempt: AttemptSummary, operation: string): void {
  const { resolved, cache } = attempt;
  if (cache) families.cacheRequests.add({ mode: 'exact', result: cache });
  for (const { param, action } of attempt.losses) {
    families.paramsLost.add({ provider: resolved?.slug ?? '', param: knownParam(param) ?? OTHER, action });
  }
  if (!resolved) return;
  const labels = { provider: resolved.slug, request_model: resolved.modelLabel, operation };
  const { outcome, errorType, counted } = attempt;
  if (counted) families.upstreamAttempts.add({ ...labels, outcome, error_type: errorType });
  recordTries(families, attempt, labels);
  recordPace(families, attempt, labels);
  recordTokens(families, attempt, labels);
}

function recordTries(families: Families, { tries }: AttemptSummary, labels: ModelLabels): void {
  const { provider } = labels;
  const last = new Map<number, AttemptSummary['tries'][number]>();
  for (const record of tries) {
    const { call, startedAt, endedAt, outcome, resent } = record;
    families.upstreamDuration.observe({ ...labels, outcome }, (endedAt - startedAt) / 1000);
    if (resent) families.upstreamRetries.add({ provider, reason: 'stale_connection' });
    const before = last.get(call);
    last.set(call, record);
    // A call that another one's failure ended is sent again with it, and was no failure.
    if (before && before.outcome !== 'aborted') families.upstreamRetries.add({ provider, reason: before.errorType });
  }
}

function recordPace(families: Families, attempt: AttemptSummary, labels: ModelLabels): void {
  const { stream, outcome, firstContentMs, signals, tries } = attempt;
  const last = tries.at(-1);
  if (!stream || firstContentMs === undefined || !last) return;
  families.upstreamFirstChunk.observe(labels, firstContentMs / 1000);
  const more = (signals?.usage?.output ?? 0) - 1;
  if (outcome !== 'success' || more < 1) return;
  families.upstreamPerToken.observe(labels, (last.endedAt - last.startedAt - firstContentMs) / 1000 / more);
}

/** Of every attempt, lost ones too: they were billed. */
function recordTokens(families: Families, { signals }: AttemptSummary, labels: ModelLabels): void {
  const usage = signals?.usage;
  if (!usage) return;
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
