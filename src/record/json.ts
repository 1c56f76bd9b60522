import type { ChosenBranch } from '../plugin/index.ts';
import type { BoundedRecord } from './bounded-record.ts';
import type { RecordedAttempt, RecordedSemantic, RecordedTry } from './record.ts';
import { scrub } from './scrub.ts';

/** A record as the admin listener's JSON; undefined fields are omitted. */
export function recordJson(record: BoundedRecord): object {
  const { configId, configHash, attempts } = record;
  const isOver = record.state !== 'running';
  return clean({
    ...headOf(record),
    trace_id: record.traceId,
    explain_id: record.explainId,
    method: record.method,
    path: record.path,
    operation: record.operation,
    outcome: record.outcome,
    outcome_status: isOver ? record.outcomeStatus : undefined,
    overhead_ms: round(record.overheadMs),
    first_content_ms: round(record.firstContentMs),
    deadline_ms: round(record.deadlineMs),
    config: configId ? { id: configId, hash: configHash } : undefined,
    prompt: record.prompt,
    settings_hash: record.settingsHash,
    metadata_dropped: record.metadataDropped || undefined,
    client_ip: record.clientAddress,
    client_left: record.disconnectStage,
    rejected: record.rejection,
    bytes_in: record.bytesIn,
    bytes_out: record.bytesOut,
    cache: record.cache,
    commit: attempts.at(-1)?.commit,
    finish_reason: attempts.at(-1)?.finish,
    retries: record.retries,
    attempts: attempts.map(attemptJson),
    skipped: record.skipped,
    ignored: record.ignoredPlace,
    conditions: record.conditions.length > 0 ? record.conditions.map(branchJson) : undefined,
    left_out: leftOutOf(record),
  });
}

function leftOutOf({ leftOut, metadataLeftOut }: BoundedRecord): object | undefined {
  return metadataLeftOut > 0 ? { ...leftOut, metadata: metadataLeftOut } : leftOut;
}

const branchJson = ({ at, condition, to }: ChosenBranch): object => ({
  at,
  held: condition === undefined ? 'default' : `conditions[${condition}]`,
  to,
});

/** A record as one line of a list. */
export function recordLineJson(record: BoundedRecord): object {
  const place = record.attempts.at(-1)?.place;
  return clean({
    ...headOf(record),
    config_id: record.configId || undefined,
    provider: place?.provider,
    request_model: place?.model,
    attempts: record.attempts.length + (record.leftOut?.attempts ?? 0),
  });
}

function headOf(record: BoundedRecord): object {
  const { receivedAt, durationMs, state, errorCode } = record;
  const isOver = state !== 'running';
  return {
    request_id: record.id,
    time: new Date(receivedAt).toISOString(),
    ended: isOver ? new Date(receivedAt + durationMs).toISOString() : undefined,
    state,
    status: isOver ? record.status : undefined,
    duration_ms: round(durationMs),
    route: record.route,
    key_id: record.keyId,
    metadata: record.metadata,
    stream: record.stream,
    error: errorCode && { code: errorCode, type: record.errorType, plugin: record.plugin },
  };
}

function attemptJson(attempt: RecordedAttempt): object {
  const { place, usage } = attempt;
  return {
    target: attempt.target,
    why: attempt.why,
    provider: place?.provider,
    request_model: place?.model,
    response_model: attempt.responseModel,
    url: place?.url,
    started_ms: round(attempt.startedMs),
    duration_ms: round(attempt.durationMs),
    first_content_ms: round(attempt.firstContentMs),
    outcome: attempt.outcome,
    answered: attempt.answered || undefined,
    failure: failureJson(attempt),
    cache: attempt.cache,
    semantic: attempt.semantic && semanticJson(attempt.semantic),
    finish_reason: attempt.finish,
    tokens: usage && {
      input: usage.input,
      output: usage.output,
      cache_read: usage.cacheRead,
      cache_write: usage.cacheWrite,
      reasoning: usage.reasoning,
    },
    losses: attempt.losses.length > 0 ? attempt.losses.map(({ param, action }) => `${param}: ${action}`) : undefined,
    defaulted:
      attempt.defaulted.length > 0 ? attempt.defaulted.map(({ param, value }) => `${param}: ${value}`) : undefined,
    retries: attempt.retries,
    tries: attempt.tries.map(tryJson),
  };
}

function semanticJson({ result, reason, similarity, embedding }: RecordedSemantic): object {
  return {
    result,
    reason,
    similarity: similarity === undefined ? undefined : Math.round(similarity * 10_000) / 10_000,
    embedding: embedding && {
      provider: embedding.provider,
      request_model: embedding.modelLabel,
      duration_ms: round(embedding.durationMs),
      tokens: embedding.tokens,
      result: embedding.result,
    },
  };
}

function failureJson({ errorCode, errorType, failure }: RecordedAttempt): object | undefined {
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

function tryJson(record: RecordedTry): object {
  const { errorCode, errorType } = record;
  return {
    started_ms: round(record.startedMs),
    duration_ms: round(record.durationMs),
    waited_ms: record.waitedMs > 0 ? round(record.waitedMs) : undefined,
    in_line_ms: round(record.inLineMs),
    outcome: record.outcome,
    status: record.status,
    error: errorType === '' ? undefined : { code: errorCode, type: errorType },
    resent: record.resent || undefined,
    call: record.call || undefined,
  };
}

/** Plain JSON without credentials, which a caller may write into its path or model. */
const clean = (value: object): object => JSON.parse(scrub(JSON.stringify(value))) as object;

/** Rounds to microseconds. */
function round<T extends number | undefined>(ms: T): T;
function round(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms * 1000) / 1000;
}
