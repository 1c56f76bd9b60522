import { describe, expect, it } from 'vitest';
import { Secret, UpstreamError, type ReplyEnd } from '../../plugin/index.ts';
import type { Exchange } from '../kernel/index.ts';
import { createConfig, createTarget } from '../../plugin/testing/index.ts';
import { boundRecord } from './bounded-record.ts';
import {
  anthropic,
  attemptOf,
  endOf,
  exchangeOf,
  replyOf,
  signalsOf,
  streamedExchange,
  tryOf,
  vertex,
  WALL,
} from './exchange.testkit.ts';
import { recordOf } from './make-record.ts';
import { recordJson, recordLine } from './json.ts';
import type { RecordEnd } from './attempt-end.ts';

function reported(exchange: Exchange, end: RecordEnd | ReplyEnd = endOf(), endedAt = 1000): object {
  return recordJson(boundRecord(recordOf(exchange, end, { endedAt, receivedAt: WALL })));
}

/** Vertex is rate-limited, retried after its wait, and refuses again; another target is skipped; Claude answers. */
function fallenBack(): Exchange {
  const limited = new UpstreamError('rate_limit_exceeded', 'canary-content', {
    upstreamKind: 'RESOURCE_EXHAUSTED',
    upstreamReport: { message: 'Quota exceeded.', param: 'model', code: '429' },
    retryAfterMs: 30_000,
  });
  const exchange = exchangeOf({
    config: createConfig({ id: 'prod', hash: 'feedfeedfeedfeed' }),
    reply: replyOf(false),
    conditions: [{ at: 'config', condition: 1, to: 'config.targets[0]' }],
    skipped: [
      { target: createTarget({ path: 'config.targets[1]', provider: '@second' }), reason: 'circuit_open', after: 1 },
    ],
  });
  exchange.attempts.push(
    attemptOf({
      choice: { reason: 'first', fallsThrough: () => true },
      tries: [
        tryOf(5, 25, { status: 429, error: limited }),
        tryOf(525, 550, { status: 429, error: limited, resent: true, waitedUntil: 530 }),
      ],
      losses: [{ param: 'seed', action: 'dropped', reason: '' }],
      error: limited,
    }),
    attemptOf({
      number: 1,
      startedAt: 551,
      choice: { reason: 'fallback', fallsThrough: () => false },
      target: createTarget({ path: 'config.targets[2]' }),
      resolved: anthropic,
      defaulted: [{ param: 'max_tokens', value: 64_000, reason: 'the limit of the model' }],
      tries: [tryOf(552, 990, { firstContentAt: 900 })],
      reply: replyOf(false),
      signals: signalsOf({
        usage: { input: 10, output: 7, total: 17, cacheRead: 4 },
        finish: 'stop',
        model: 'claude-x',
      }),
    }),
  );
  return exchange;
}

describe('a record as JSON', () => {
  it('contains every decision, in order and with its times', () => {
    expect(reported(fallenBack())).toEqual({
      request_id: 'req-1',
      time: '2026-01-01T00:00:00.000Z',
      ended: '2026-01-01T00:00:01.000Z',
      state: 'complete',
      status: 200,
      duration_ms: 1000,
      route: '/v1/chat/completions',
      key_id: 'team-search',
      stream: false,
      trace_id: '0af7651916cd43dd8448eb211c80319c',
      method: 'POST',
      path: '/v1/chat/completions',
      operation: 'chat.completions',
      outcome: 'success',
      outcome_status: 200,
      overhead_ms: 17,
      first_content_ms: 900,
      deadline_ms: 900_000,
      config: { id: 'prod', hash: 'feedfeedfeedfeed' },
      // It named none.
      model: '',
      settings_hash: '0123456789abcdef',
      client_ip: '127.0.0.1',
      bytes_in: 0,
      bytes_out: 100,
      commit: 'first_content',
      finish_reason: 'stop',
      retries: 1,
      attempts: [
        {
          target: 'config.targets[0]',
          why: 'first',
          provider: 'vertex-eu',
          request_model: 'gemini-2.5-pro',
          url: 'https://europe-west1-aiplatform.googleapis.com/v1/projects/p/locations/europe-west1/publishers/google/models/gemini-2.5-pro:streamGenerateContent',
          started_ms: 2,
          duration_ms: 548,
          outcome: 'error',
          failure: {
            code: 'rate_limit_exceeded',
            type: 'rate_limited',
            kinds: ['rate_limit'],
            status: 429,
            upstream_kind: 'RESOURCE_EXHAUSTED',
            upstream_message: 'Quota exceeded.',
            upstream_param: 'model',
            upstream_code: '429',
            retry_after_ms: 30_000,
          },
          losses: ['seed: dropped'],
          retries: 1,
          tries: [
            {
              started_ms: 5,
              duration_ms: 20,
              outcome: 'error',
              status: 429,
              error: { code: 'rate_limit_exceeded', type: 'rate_limited' },
            },
            {
              started_ms: 525,
              duration_ms: 25,
              waited_ms: 500,
              in_line_ms: 5,
              outcome: 'error',
              status: 429,
              error: { code: 'rate_limit_exceeded', type: 'rate_limited' },
              resent: true,
            },
          ],
        },
        {
          target: 'config.targets[2]',
          why: 'fallback',
          provider: 'claude',
          request_model: 'claude-sonnet-4-5',
          response_model: 'claude-x',
          url: 'http://127.0.0.1:9999/v1/messages',
          started_ms: 551,
          duration_ms: 439,
          first_content_ms: 348,
          outcome: 'success',
          answered: true,
          finish_reason: 'stop',
          tokens: { input: 10, output: 7, cache_read: 4 },
          defaulted: ['max_tokens: 64000'],
          retries: 0,
          tries: [{ started_ms: 552, duration_ms: 438, outcome: 'success', status: 200 }],
        },
      ],
      skipped: [{ target: 'config.targets[1]', provider: 'second', reason: 'circuit_open', after: 1 }],
      conditions: [{ at: 'config', held: 'conditions[1]', to: 'config.targets[0]' }],
    });
  });

  it('contains the reason of an interrupted stream, with its failure kinds', () => {
    const error = new UpstreamError('overloaded', 'no', { inStream: true });
    expect(reported(streamedExchange(), endOf({ state: 'failed', error }))).toMatchObject({
      state: 'failed',
      status: 200,
      outcome_status: 503,
      error: { code: 'overloaded', type: 'overloaded' },
      attempts: [{ outcome: 'error', failure: { code: 'overloaded', kinds: ['overloaded', 'stream_error'] } }],
    });
  });

  it('contains the stage at which a client disconnected, and blames no target', () => {
    const record = reported(streamedExchange(), endOf({ state: 'aborted', bytes: 5 }), 400);
    expect(record).toMatchObject({
      state: 'aborted',
      status: 499,
      client_left: 'streaming',
      attempts: [{ outcome: 'aborted', failure: { code: 'client_closed', type: 'client_disconnected' } }],
    });
    expect(record).not.toHaveProperty('attempts.0.failure.kinds');
  });

  it('marks a running request and its attempt as running, without results', () => {
    const exchange = fallenBack();
    exchange.attempts[1]!.tries[0]!.endedAt = undefined;
    const record = reported(exchange, { state: 'running', status: 200, bytes: 0, error: undefined }, 600);
    expect(record).toMatchObject({
      state: 'running',
      outcome: 'running',
      duration_ms: 600,
      attempts: [{ outcome: 'error' }, { outcome: 'running', tries: [{ outcome: 'running' }] }],
    });
    for (const name of ['status', 'outcome_status', 'ended']) expect(record).not.toHaveProperty(name);
  });

  it('has a short form for lists', () => {
    const record = recordOf(fallenBack(), endOf(), { endedAt: 1000, receivedAt: WALL });
    expect(recordLine(recordJson(record))).toEqual({
      request_id: 'req-1',
      time: '2026-01-01T00:00:00.000Z',
      ended: '2026-01-01T00:00:01.000Z',
      state: 'complete',
      status: 200,
      duration_ms: 1000,
      route: '/v1/chat/completions',
      key_id: 'team-search',
      stream: false,
      config_id: 'prod',
      provider: 'claude',
      request_model: 'claude-sonnet-4-5',
      target: 'config.targets[2]',
      tokens: { input: 10, output: 7, cache_read: 4 },
      first_content_ms: 900,
      rescued: true,
      attempts: 2,
      retries: 1,
      skipped: 1,
    });
  });

  it('contains no secret of the request or of its targets', () => {
    const canary = 'canary-secret-0123456789';
    const exchange = fallenBack();
    Object.assign(exchange.request.headers, {
      authorization: `Bearer ${canary}`,
      'x-api-key': canary,
      cookie: canary,
      'x-gateway-metadata': canary,
    });
    Object.assign(exchange, {
      upstreamToken: new Secret(canary),
      metadata: { [`sk-${canary}`]: `sk-${canary}` },
      labels: { team: canary },
      error: new UpstreamError('upstream_error', canary, { cause: new Error(canary) }),
    });
    exchange.attempts.unshift(
      attemptOf({
        target: createTarget({ overrideParams: { user: canary }, provider: canary }),
        resolved: { ...vertex, path: `/v1/x?key=${canary}`, headers: { authorization: canary } },
        tries: [tryOf(1, 2, { error: new UpstreamError('invalid_api_key', canary) })],
        losses: [{ param: 'seed', action: 'dropped', reason: canary }],
        signals: signalsOf({ failure: { status: 500, message: canary } }),
        error: new UpstreamError('invalid_api_key', `your key ${canary}`),
      }),
    );
    expect(JSON.stringify(reported(exchange))).not.toContain('canary');
  });

  it('contains no secret that a caller writes in place of a name', () => {
    const key = 'sk-ant-REDACTED'.padEnd(40, '0');
    const exchange = fallenBack();
    exchange.attempts[1]!.resolved = { ...anthropic, model: key };
    const leaky = { ...exchange, request: { ...exchange.request, path: `/v1/${key}` } };
    expect(JSON.stringify(reported(leaky))).not.toContain(key);
  });
});
