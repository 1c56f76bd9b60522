import type { Usage } from '../../../formats/events.ts';
import { countLosses, type ChosenBranch } from '../../kernel/index.ts';
import type { RecordedCost } from '../costs.ts';
import type { RecordedAttempt, RecordedSemantic, RecordedSkip, RecordedTry } from '../record.ts';
import { roundSimilarity } from '../record-semantic.ts';
import { SPAN } from '../semconv.ts';
import { group, rows, type RecordField } from './record-field.ts';

const TRY_FIELDS: readonly RecordField<RecordedTry>[] = [
  { record: 'started_ms', as: 'ms', value: 'startedMs' },
  { record: 'duration_ms', as: 'ms', value: 'durationMs' },
  { record: 'waited_ms', as: 'ms', value: ({ waitedMs }) => (waitedMs > 0 ? waitedMs : undefined) },
  { record: 'in_line_ms', as: 'ms', value: 'inLineMs' },
  { record: 'outcome', as: 'text', value: 'outcome' },
  { record: 'status', as: 'plain', value: 'status' },
  {
    record: 'error',
    as: 'json',
    value: ({ errorCode: code, errorType: type }) => (type === '' ? undefined : { code, type }),
  },
  { record: 'resent', as: 'plain', value: ({ resent }) => resent || undefined },
  { record: 'call', as: 'plain', value: ({ call }) => call || undefined },
];

/** The tokens of an attempt, or its seconds of sound. */
export const TOKEN_FIELDS: readonly RecordField<Usage>[] = [
  { line: 'input', record: 'input', as: 'plain', value: 'input' },
  { line: 'output', record: 'output', as: 'plain', value: 'output' },
  { line: 'cache_read', record: 'cache_read', as: 'plain', value: 'cacheRead' },
  { line: 'cache_write', record: 'cache_write', as: 'plain', value: 'cacheWrite' },
  { line: 'reasoning', record: 'reasoning', as: 'plain', value: 'reasoning' },
  { line: 'seconds', record: 'seconds', as: 'plain', value: 'seconds' },
  { record: 'cache_write_1h', as: 'plain', value: 'cacheWrite1h' },
  { record: 'audio_in', as: 'plain', value: 'inputAudio' },
  { record: 'image_in', as: 'plain', value: 'inputImage' },
  { record: 'audio_out', as: 'plain', value: 'outputAudio' },
  { record: 'image_out', as: 'plain', value: 'outputImage' },
  { record: 'tool_use', as: 'plain', value: 'toolUse' },
  { record: 'searches', as: 'plain', value: 'searches' },
  { record: 'file_searches', as: 'plain', value: 'fileSearches' },
  { record: 'map_searches', as: 'plain', value: 'mapSearches' },
  { record: 'containers', as: 'plain', value: 'containers' },
  { record: 'images', as: 'plain', value: 'images' },
  { record: 'tier', as: 'text', value: 'tier' },
];

export const usdOfNano = (nano: number | undefined): number | undefined =>
  nano === undefined ? undefined : nano / 1e9;

export const costFields = ({ nano, source, unknown }: RecordedCost): object => ({
  cost_usd: usdOfNano(nano),
  cost_source: source,
  cost_unknown: unknown,
});

export const ATTEMPT_FIELDS: readonly RecordField<RecordedAttempt>[] = [
  { line: 'target', record: 'target', span: SPAN.configTarget, as: 'text', value: 'target' },
  { line: 'target_name', record: 'target_name', as: 'text', value: 'targetName' },
  { line: 'why', record: 'why', as: 'text', value: 'why' },
  { line: 'provider', record: 'provider', span: SPAN.providerSlug, as: 'text', value: ({ place }) => place?.provider },
  { span: SPAN.attempt, as: 'plain', value: 'number' },
  { record: 'request_model', as: 'text', value: ({ place }) => place?.model },
  { record: 'response_model', span: SPAN.responseModel, as: 'text', value: 'responseModel' },
  { record: 'answered_by_other', as: 'text', value: 'substitution' },
  { record: 'url', as: 'text', value: ({ place }) => place?.url },
  { record: 'started_ms', as: 'ms', value: 'startedMs' },
  { line: 'tries', as: 'plain', value: ({ tries }) => tries.length },
  { line: 'status', as: 'plain', value: ({ tries }) => tries.at(-1)?.status },
  { line: 'duration_ms', record: 'duration_ms', as: 'ms', value: 'durationMs' },
  { record: 'first_content_ms', as: 'ms', value: 'firstContentMs' },
  { span: SPAN.requestStream, as: 'plain', value: ({ stream }) => stream || undefined },
  {
    span: SPAN.timeToFirstChunk,
    as: 'plain',
    value: ({ stream, firstContentMs }) => (stream && firstContentMs !== undefined ? firstContentMs / 1000 : undefined),
  },
  { record: 'outcome', as: 'text', value: 'outcome' },
  { record: 'answered', as: 'plain', value: ({ answered }) => answered || undefined },
  { line: 'error_code', span: SPAN.errorCode, as: 'text', value: 'errorCode' },
  { span: SPAN.errorType, as: 'text', value: ({ errorType }) => errorType || undefined },
  { record: 'failure', as: 'json', value: failureOf },
  { line: 'upstream_kind', as: 'text', value: ({ failure }) => failure?.upstreamKind },
  { line: 'upstream_message', as: 'unique', value: ({ failure }) => failure?.upstreamMessage },
  { line: 'upstream_param', as: 'text', value: ({ failure }) => failure?.upstreamParam },
  { line: 'upstream_code', as: 'text', value: ({ failure }) => failure?.upstreamCode },
  { record: 'cache', span: SPAN.cacheStatus, as: 'text', value: 'cache' },
  { span: SPAN.cacheSimilarity, as: 'plain', value: ({ semantic }) => roundSimilarity(semantic?.similarity) },
  { record: 'semantic', as: 'json', value: ({ semantic }) => semantic && wholeSemantic(semantic) },
  { record: 'finish_reason', as: 'text', value: 'finish' },
  { span: SPAN.finishReasons, as: 'texts', value: finishReasonsOf },
  group({ record: 'tokens' }, TOKEN_FIELDS, ({ usage }) => usage),
  { record: 'tokens_claimed', as: 'json', value: ({ claimedUsage }) => claimedUsage && claimsOf(claimedUsage) },
  { span: SPAN.inputTokens, as: 'plain', value: ({ usage }) => usage?.input },
  { span: SPAN.outputTokens, as: 'plain', value: ({ usage }) => usage?.output },
  { span: SPAN.cacheReadTokens, as: 'plain', value: ({ usage }) => usage?.cacheRead },
  { span: SPAN.cacheWriteTokens, as: 'plain', value: ({ usage }) => usage?.cacheWrite },
  { span: SPAN.reasoningTokens, as: 'plain', value: ({ usage }) => usage?.reasoning },
  { record: 'prefixes', as: 'json', value: 'prefixes' },
  { record: 'token_count', as: 'text', value: ({ estimated }) => (estimated ? 'estimate' : undefined) },
  { record: 'cost_usd', span: SPAN.cost, as: 'plain', value: ({ cost }) => usdOfNano(cost?.nano) },
  { record: 'cost_source', span: SPAN.costSource, as: 'text', value: ({ cost }) => cost?.source },
  { record: 'cost_unknown', as: 'text', value: ({ cost }) => cost?.unknown },
  {
    record: 'lost_costs',
    as: 'json',
    value: ({ lostCosts }) => (lostCosts.length > 0 ? lostCosts.map(costFields) : undefined),
  },
  { record: 'saved_usd', as: 'plain', value: ({ cost }) => usdOfNano(cost?.saved) },
  {
    record: 'losses',
    as: 'texts',
    value: ({ losses }) => textsOf(losses, ({ param, action }) => `${param}: ${action}`),
  },
  { record: 'files', as: 'json', value: ({ files }) => (files.length > 0 ? files : undefined) },
  { span: SPAN.lostParams, as: 'texts', value: ({ losses }) => (losses.length > 0 ? namesOf(losses) : undefined) },
  {
    record: 'defaulted',
    as: 'texts',
    value: ({ defaulted }) => textsOf(defaulted, ({ param, value }) => `${param}: ${value}`),
  },
  { record: 'retries', as: 'plain', value: 'retries' },
  rows({ record: 'tries' }, TRY_FIELDS, ({ tries }) => tries),
];

export const SKIP_FIELDS: readonly RecordField<RecordedSkip>[] = [
  { line: 'target', record: 'target', as: 'text', value: 'target' },
  { line: 'target_name', record: 'target_name', as: 'text', value: 'targetName' },
  { line: 'provider', record: 'provider', as: 'text', value: 'provider' },
  { line: 'reason', record: 'reason', as: 'text', value: 'reason' },
  { line: 'after', record: 'after', as: 'plain', value: 'after' },
];

/** A generation that ended abnormally has the finish reason `error` (GenAI conventions, PR 363). */
export function finishReasonsOf({ outcome, finish: finished }: RecordedAttempt): string[] | undefined {
  const finish = outcome === 'success' ? finished : 'error';
  return finish && [finish];
}

const MAX_LOSSES = 20;

export function namesOf(losses: RecordedAttempt['losses']): string[] {
  const named = losses.filter(({ count }) => count === undefined).slice(0, MAX_LOSSES);
  const more = countLosses(losses) - named.length;
  return [...named.map(({ param }) => param), ...(more > 0 ? [`(+${more} more)`] : [])];
}

export const branchOf = ({ at, condition, to, tests }: ChosenBranch): object => ({
  at,
  held: condition === undefined ? 'default' : `conditions[${condition}]`,
  to,
  ...(tests && tests.length > 0 && { tests }),
});

/** The claimed counts as texts, because JSON has no NaN and no infinity. */
export const claimsOf = (claims: Usage): object =>
  Object.fromEntries(
    Object.entries(claims).flatMap(([name, value]) => (typeof value === 'number' ? [[name, String(value)]] : [])),
  );

/** Undefined for an empty list. */
export const textsOf = <T>(list: readonly T[], write: (item: T) => string): string[] | undefined =>
  list.length === 0 ? undefined : list.map(write);

export function failureOf({ errorCode, errorType, failure }: RecordedAttempt): object | undefined {
  if (errorCode === undefined) return undefined;
  return {
    code: errorCode,
    type: errorType,
    kinds: failure?.kinds,
    status: failure?.status,
    upstream_kind: failure?.upstreamKind,
    upstream_message: failure?.upstreamMessage,
    upstream_param: failure?.upstreamParam,
    upstream_code: failure?.upstreamCode,
    retry_after_ms: failure?.retryAfterMs,
  };
}

/** The look-up without the call for vectors. */
export const semanticOf = ({ result, reason, similarity }: RecordedSemantic): object => ({
  result,
  reason,
  similarity: roundSimilarity(similarity),
});

export const wholeSemantic = (semantic: RecordedSemantic): object => ({
  ...semanticOf(semantic),
  embedding: semantic.embedding && vectorsCall(semantic.embedding),
});

const vectorsCall = (call: NonNullable<RecordedSemantic['embedding']>): object => ({
  provider: call.provider,
  request_model: call.modelLabel,
  duration_ms: Math.round(call.durationMs * 1000) / 1000,
  tokens: call.tokens,
  ...(call.cost && costFields(call.cost)),
  result: call.result,
});
