import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainCosts, anyRecord } from '../records.testkit.ts';
import type { BoundedRecord } from '../bounded-record.ts';
import { createStillClock, WALL } from '../exchange.testkit.ts';
import { msText } from '../fields/json-text.ts';
import type { RecordedAttempt, RecordedSkip } from '../record.ts';
import { createAccessLog } from './access-log.ts';
import { createLogger } from './logger.ts';
import { runs } from '../../../../test/support/effort.ts';

const round = (value: number): number => Math.round(value * 1000) / 1000;

/** The line as an object for the logger: the plain form of the field table. */
function lineOf(record: BoundedRecord): object {
  const { attempts, skipped, guards, errorCode, errorType, firstContentMs } = record;
  const answered = attempts.at(-1);
  return {
    request_id: record.id,
    trace_id: record.traceId,
    ...(record.spanId !== undefined && { span_id: record.spanId }),
    method: record.method,
    route: record.route ?? null,
    path: record.path,
    status: record.status,
    duration_ms: round(record.durationMs),
    overhead_ms: round(record.overheadMs),
    ...(firstContentMs !== undefined && { ttfc_ms: round(firstContentMs) }),
    bytes_in: record.bytesIn,
    bytes_out: record.bytesOut,
    stream: record.stream,
    ...(record.cache && { cache: record.cache }),
    config_hash: record.settingsHash,
    ...(record.configId && { config_id: record.configId, gateway_config_hash: record.configHash }),
    ...(record.alias !== undefined && { alias: record.alias }),
    ...(record.prompt && { prompt: `${record.prompt.id}@${record.prompt.version}` }),
    ...(record.upload && { upload: record.upload }),
    ...(record.keyId !== undefined && { key_id: record.keyId }),
    ...(record.team !== undefined && { team: record.team }),
    ...(record.metadata && { metadata: record.metadata }),
    ...(record.metadataDropped > 0 && { metadata_dropped: record.metadataDropped }),
    ...(answered && targetFields(answered, record)),
    ...(skipped.length > 0 && { skipped: skipped.map(skippedField) }),
    ...(guards?.length && { guards: guards.map(({ guard, on, verdict }) => `${guard}:${on}:${verdict}`) }),
    ...(errorCode && { error_code: errorCode, error_type: errorType }),
    ...(record.plugin !== undefined && { plugin: record.plugin }),
    client_ip: record.clientAddress,
    ...(record.userAgent !== undefined && { user_agent: record.userAgent }),
    ...(record.limitedBy && { limited_by: record.limitedBy }),
  };
}

function targetFields(answered: RecordedAttempt, { attempts, retries }: BoundedRecord): object {
  const { place, responseModel, substitution, finish, losses, files, defaulted, usage, semantic, estimated } = answered;
  return {
    ...(place && { provider: place.provider, request_model: place.model }),
    ...(responseModel !== undefined && { response_model: responseModel }),
    ...(substitution && { answered_by_other: substitution }),
    ...(finish && { finish_reason: finish }),
    attempts: attempts.map(attemptField),
    retries,
    ...(semantic && {
      semantic: {
        result: semantic.result,
        ...(semantic.reason !== undefined && { reason: semantic.reason }),
        ...(semantic.similarity !== undefined && { similarity: Math.round(semantic.similarity * 10_000) / 10_000 }),
      },
    }),
    ...(estimated && { token_count: 'estimate' }),
    ...(losses.length > 0 && { losses: losses.map(({ param, action }) => `${param}:${action}`) }),
    ...(files.length > 0 && { files }),
    ...(defaulted.length > 0 && { defaulted: defaulted.map(({ param, value }) => `${param}:${value}`) }),
    ...(usage &&
      answered.answered && {
        tokens: {
          input: usage.input,
          output: usage.output,
          cache_read: usage.cacheRead,
          cache_write: usage.cacheWrite,
          reasoning: usage.reasoning,
        },
      }),
    ...plainCosts(attempts, answered.cost?.source),
  };
}

const skippedField = ({ target, targetName, ...rest }: RecordedSkip): object => ({
  target,
  ...(targetName !== undefined && { target_name: targetName }),
  ...rest,
});

function attemptField({
  target,
  targetName,
  why,
  place,
  durationMs,
  tries,
  errorCode,
  failure,
}: RecordedAttempt): object {
  return {
    target,
    target_name: targetName,
    why,
    ...(place && { provider: place.provider }),
    tries: tries.length,
    status: tries.at(-1)?.status,
    duration_ms: round(durationMs),
    ...(errorCode && { error_code: errorCode }),
    ...(failure?.upstreamKind !== undefined && { upstream_kind: failure.upstreamKind }),
    ...(failure?.upstreamMessage !== undefined && { upstream_message: failure.upstreamMessage }),
    ...(failure?.upstreamParam !== undefined && { upstream_param: failure.upstreamParam }),
    ...(failure?.upstreamCode !== undefined && { upstream_code: failure.upstreamCode }),
  };
}

const MESSAGES = { success: 'request completed', error: 'request failed', aborted: 'client left', running: '' };

function levelOf({ outcome, outcomeStatus }: BoundedRecord): 'info' | 'warn' | 'error' {
  if (outcome === 'aborted' || outcomeStatus < 400) return 'info';
  return outcomeStatus < 500 ? 'warn' : 'error';
}

describe('an access line', () => {
  it.each([undefined, 3])('equals the line of the logger byte by byte, for any record: worker %s', (worker) => {
    const clock = createStillClock();
    const lines: string[] = [];
    const [asked, log] = [0, 1].map(() =>
      createLogger({ level: 'info', clock, worker, destination: { write: (line) => void lines.push(line) } }),
    );
    const written = createAccessLog({
      log: asked!,
      mode: 'all',
      lines: { worker, write: (line) => void lines.push(line) },
    });
    fc.assert(
      fc.property(anyRecord, (record) => {
        lines.length = 0;
        // The second line has the texts that the first one has remembered.
        for (let time = 0; time < 2; time += 1) written(record, WALL);
        log![levelOf(record)](lineOf(record), MESSAGES[record.outcome]);
        const [first, second, plain] = lines;
        expect(first).toBe(plain);
        expect(second).toBe(plain);
      }),
      { numRuns: runs(400) },
    );
  });

  it('has the time at which its request ended', () => {
    const lines: string[] = [];
    const written = createAccessLog({
      log: createLogger({ level: 'info' }),
      mode: 'all',
      lines: { write: (line) => void lines.push(line) },
    });
    const [record] = fc.sample(anyRecord, 1);
    for (const at of [0, 0, 1]) written(record!, WALL + at);
    expect(lines.map((line) => (JSON.parse(line) as { time: string }).time)).toEqual([
      '2026-01-01T00:00:00.000Z',
      '2026-01-01T00:00:00.000Z',
      '2026-01-01T00:00:00.001Z',
    ]);
  });

  it('has durations as JSON prints them, rounded to microseconds', () => {
    fc.assert(
      fc.property(fc.oneof(fc.double(), fc.double({ min: 0, max: 10_000_000 }), fc.nat()), (ms) => {
        expect(msText(ms)).toBe(JSON.stringify(round(ms)));
      }),
      { numRuns: runs(2000) },
    );
  });
});
