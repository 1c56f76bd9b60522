import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChosenBranch } from '../kernel/index.ts';
import type { BoundedRecord } from './bounded-record.ts';
import { recordJson } from './json.ts';
import type { RecordedAttempt, RecordedSemantic, RecordedTry } from './record.ts';
import type { RecordedCost } from './costs.ts';
import { anyRecord, plainCosts } from './records.testkit.ts';
import { scrub } from './scrub.ts';
import { runs } from '../../../test/support/effort.ts';

function round<T extends number | undefined>(ms: T): T;
function round(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms * 1000) / 1000;
}

/** A record as an object: the plain form of the field table. */
function plainJson(record: BoundedRecord): object {
  const { configId, configHash, attempts } = record;
  const isOver = record.state !== 'running';
  return {
    ...plainHead(record),
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
    config: configId ? { id: configId, hash: configHash, by: record.namesConfig } : undefined,
    model: record.askedModel ?? (configId === undefined ? undefined : ''),
    alias: record.alias,
    prompt: record.prompt,
    upload: record.upload,
    settings_hash: record.settingsHash,
    metadata_dropped: record.metadataDropped || undefined,
    client_ip: record.clientAddress,
    client_left: record.disconnectStage,
    rejected: record.rejection,
    limited_by: record.limitedBy,
    bytes_in: record.bytesIn,
    bytes_out: record.bytesOut,
    cache: record.cache,
    commit: attempts.at(-1)?.commit,
    finish_reason: attempts.at(-1)?.finish,
    retries: record.retries,
    attempts: attempts.map(plainAttempt),
    ...wholeCost(attempts),
    skipped: record.skipped.map(({ targetName, ...rest }) => ({ ...rest, target_name: targetName })),
    ignored: record.ignoredPlace,
    conditions: record.conditions.length > 0 ? record.conditions.map(plainBranch) : undefined,
    draws: record.draws,
    guards: record.guards,
    left_out: record.metadataLeftOut > 0 ? { ...record.leftOut, metadata: record.metadataLeftOut } : record.leftOut,
  };
}

function wholeCost(attempts: readonly RecordedAttempt[]): object {
  const { cost_source: _, ...cost } = plainCosts(attempts, undefined);
  return cost;
}

function plainHead(record: BoundedRecord): object {
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
    team: record.team,
    origin: record.origin,
    metadata: record.metadata,
    stream: record.stream,
    error: errorCode && { code: errorCode, type: record.errorType, plugin: record.plugin },
  };
}

const plainBranch = ({ at, condition, to }: ChosenBranch): object => ({
  at,
  held: condition === undefined ? 'default' : `conditions[${condition}]`,
  to,
});

function plainAttempt(attempt: RecordedAttempt): object {
  const { place, usage } = attempt;
  return {
    target: attempt.target,
    target_name: attempt.targetName,
    why: attempt.why,
    provider: place?.provider,
    request_model: place?.model,
    response_model: attempt.responseModel,
    answered_by_other: attempt.substitution,
    url: place?.url,
    started_ms: round(attempt.startedMs),
    duration_ms: round(attempt.durationMs),
    first_content_ms: round(attempt.firstContentMs),
    outcome: attempt.outcome,
    answered: attempt.answered || undefined,
    failure: plainFailure(attempt),
    cache: attempt.cache,
    semantic: attempt.semantic && plainSemantic(attempt.semantic),
    finish_reason: attempt.finish,
    tokens_claimed:
      attempt.claimedUsage &&
      Object.fromEntries(Object.entries(attempt.claimedUsage).map(([name, count]) => [name, String(count)])),
    tokens: usage && {
      input: usage.input,
      output: usage.output,
      cache_read: usage.cacheRead,
      cache_write: usage.cacheWrite,
      reasoning: usage.reasoning,
    },
    prefixes: attempt.prefixes,
    token_count: attempt.estimated ? 'estimate' : undefined,
    cost_usd: attempt.cost?.nano === undefined ? undefined : attempt.cost.nano / 1e9,
    cost_source: attempt.cost?.source,
    cost_unknown: attempt.cost?.unknown,
    saved_usd: attempt.cost?.saved === undefined ? undefined : attempt.cost.saved / 1e9,
    lost_costs: attempt.lostCosts.length > 0 ? attempt.lostCosts.map(plainCost) : undefined,
    losses: attempt.losses.length > 0 ? attempt.losses.map(({ param, action }) => `${param}: ${action}`) : undefined,
    files: attempt.files.length > 0 ? attempt.files : undefined,
    defaulted:
      attempt.defaulted.length > 0 ? attempt.defaulted.map(({ param, value }) => `${param}: ${value}`) : undefined,
    retries: attempt.retries,
    tries: attempt.tries.map(plainTry),
  };
}

const plainCost = ({ nano, source, unknown }: RecordedCost): object => ({
  cost_usd: nano === undefined ? undefined : nano / 1e9,
  cost_source: source,
  cost_unknown: unknown,
});

function plainSemantic({ result, reason, similarity, embedding }: RecordedSemantic): object {
  return {
    result,
    reason,
    similarity: similarity === undefined ? undefined : Math.round(similarity * 10_000) / 10_000,
    embedding: embedding && {
      provider: embedding.provider,
      request_model: embedding.modelLabel,
      duration_ms: round(embedding.durationMs),
      tokens: embedding.tokens,
      ...(embedding.cost && plainCost(embedding.cost)),
      result: embedding.result,
    },
  };
}

function plainFailure({ errorCode, errorType, failure }: RecordedAttempt): object | undefined {
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

function plainTry(record: RecordedTry): object {
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

const clean = (value: object): unknown => JSON.parse(scrub(JSON.stringify(value)));

describe('a stored record', () => {
  it('has the same names and values as the record, for any record', () => {
    fc.assert(
      fc.property(anyRecord, fc.boolean(), (ended, runs) => {
        const record: BoundedRecord = runs ? { ...ended, state: 'running' } : ended;
        expect(recordJson(record)).toEqual(clean(plainJson(record)));
      }),
      { numRuns: runs(200) },
    );
  });
});
