import { describe, expect, it } from 'vitest';
import { GatewayError, UpstreamError, type ReplyEnd } from '../../plugin/index.ts';
import type { Exchange } from '../kernel/index.ts';
import { createCaller, createConfig, createTarget } from '../../plugin/testing/index.ts';
import { createAccessLog, type AccessLogOptions } from './log/access-log.ts';
import {
  anthropic,
  attemptOf,
  createStillClock,
  endOf,
  exchangeOf,
  replyOf,
  signalsOf,
  streamedExchange,
  tryOf,
  vertex,
} from './exchange.testkit.ts';
import { EndedRequests } from './ended-requests.ts';
import { MAX_LABEL_SETS } from './metrics/families.ts';
import { createLogger } from './log/logger.ts';
import { recordOf } from './make-record.ts';
import { CallersAsLabels } from './metrics/caller-labels.ts';
import { countersOf } from './metrics/request-metrics.ts';
import { createRecorder } from './recorder.ts';
import { RecordStore } from './store.ts';
import { createMetrics, type Metrics } from './metrics/registry.ts';

interface Bench {
  readonly metrics: Metrics;
  readonly lines: Record<string, unknown>[];
  /** Opens and closes the record of `exchange`, whose reply ends at `endedAt`. */
  record(exchange: Exchange, end: ReplyEnd, endedAt: number): void;
  /** Nonzero series of requests. */
  series(): Promise<string[]>;
}

function createBench(access: Partial<AccessLogOptions> = {}): Bench {
  const clock = createStillClock();
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  const log = createLogger({ level: 'info', clock, destination });
  const ended = new EndedRequests(clock);
  const metrics = createMetrics({
    clock,
    build: { version: '0.1.0', revision: '' },
    process: false,
  });
  const recorder = createRecorder({
    clock,
    metrics,
    models: { answered: (model) => model },
    log,
    ended,
    accessLog: createAccessLog({
      log,
      lines: { write: (line) => destination.write(line) },
      mode: 'all',
      ...access,
    }),
  });
  return {
    metrics,
    lines,
    record(exchange, end, endedAt) {
      const recording = recorder.open(exchange);
      clock.set(endedAt);
      recording.close(end);
      ended.flush();
    },
    async series() {
      const { text } = await metrics.scrape(undefined);
      return text.split('\n').filter((line) => line !== '' && !/^#|_bucket\{| 0$|^gatehouse_build_info/.test(line));
    },
  };
}

/** Two tries at Vertex fail, the second on a connection that had died; then Claude answers. */
function fallenBackExchange(): Exchange {
  const exchange = exchangeOf({
    json: { model: 'm' },
    reply: replyOf(false),
    config: createConfig({ id: 'prod' }),
  });
  const overloaded = new UpstreamError('overloaded', 'busy with canary-content', {
    upstreamKind: 'UNAVAILABLE',
    upstreamReport: { message: 'The model is busy.', code: '503' },
  });
  const limited = new UpstreamError('rate_limit_exceeded', 'slow down');
  exchange.attempts.push(
    attemptOf({
      tries: [
        tryOf(2, 12, { status: 429, error: limited }),
        tryOf(20, 30, { status: 503, error: overloaded, resent: true }),
      ],
      error: overloaded,
    }),
    attemptOf({
      number: 1,
      startedAt: 31,
      target: { ...attemptOf().target, path: 'config.targets[1]' },
      resolved: anthropic,
      tries: [tryOf(32, 90, { firstContentAt: 88 })],
      reply: replyOf(false),
      signals: signalsOf({
        usage: { input: 10, output: 1, total: 11 },
        finish: 'length',
        model: 'claude-sonnet-4-5-20250929',
      }),
    }),
  );
  return exchange;
}

describe('the metrics of a request', () => {
  it('record a stream: outcome, pace, tokens, losses', async () => {
    const bench = createBench();
    const exchange = streamedExchange();
    bench.record(exchange, endOf({ bytes: 4096 }), 1305);
    expect(await bench.series()).toEqual([
      'gatehouse_requests_total{route="/v1/chat/completions",status_class="2xx",stream="true",cache="",key_id="team-search"} 1',
      'gatehouse_request_duration_seconds_sum{route="/v1/chat/completions",status_class="2xx",stream="true"} 1.305',
      'gatehouse_request_duration_seconds_count{route="/v1/chat/completions",status_class="2xx",stream="true"} 1',
      'gatehouse_request_overhead_seconds_sum{route="/v1/chat/completions"} 0.01',
      'gatehouse_request_overhead_seconds_count{route="/v1/chat/completions"} 1',
      `gatehouse_request_body_bytes_sum{route="/v1/chat/completions"} ${exchange.request.bodyBytes}`,
      'gatehouse_request_body_bytes_count{route="/v1/chat/completions"} 1',
      'gatehouse_response_body_bytes_sum{route="/v1/chat/completions"} 4096',
      'gatehouse_response_body_bytes_count{route="/v1/chat/completions"} 1',
      'gatehouse_upstream_attempts_total{provider="vertex-eu",request_model="gemini-2.5-pro",operation="chat",outcome="success",error_type="",key_id="team-search"} 1',
      'gatehouse_upstream_request_duration_seconds_sum{provider="vertex-eu",request_model="gemini-2.5-pro",operation="chat",outcome="success"} 1.295',
      'gatehouse_upstream_request_duration_seconds_count{provider="vertex-eu",request_model="gemini-2.5-pro",operation="chat",outcome="success"} 1',
      'gatehouse_upstream_time_to_first_chunk_seconds_sum{provider="vertex-eu",request_model="gemini-2.5-pro",operation="chat"} 0.3',
      'gatehouse_upstream_time_to_first_chunk_seconds_count{provider="vertex-eu",request_model="gemini-2.5-pro",operation="chat"} 1',
      'gatehouse_upstream_time_per_output_token_seconds_sum{provider="vertex-eu",request_model="gemini-2.5-pro",operation="chat"} 0.005',
      'gatehouse_upstream_time_per_output_token_seconds_count{provider="vertex-eu",request_model="gemini-2.5-pro",operation="chat"} 1',
      'gatehouse_tokens_total{provider="vertex-eu",request_model="gemini-2.5-pro",operation="chat",type="input",key_id="team-search"} 1000',
      'gatehouse_tokens_total{provider="vertex-eu",request_model="gemini-2.5-pro",operation="chat",type="output",key_id="team-search"} 200',
      'gatehouse_tokens_total{provider="vertex-eu",request_model="gemini-2.5-pro",operation="chat",type="cache_read",key_id="team-search"} 600',
      'gatehouse_tokens_total{provider="vertex-eu",request_model="gemini-2.5-pro",operation="chat",type="reasoning",key_id="team-search"} 50',
      'gatehouse_request_tokens_sum{provider="vertex-eu",request_model="gemini-2.5-pro",operation="chat",type="input"} 1000',
      'gatehouse_request_tokens_count{provider="vertex-eu",request_model="gemini-2.5-pro",operation="chat",type="input"} 1',
      'gatehouse_request_tokens_sum{provider="vertex-eu",request_model="gemini-2.5-pro",operation="chat",type="output"} 200',
      'gatehouse_request_tokens_count{provider="vertex-eu",request_model="gemini-2.5-pro",operation="chat",type="output"} 1',
      'gatehouse_params_lost_total{provider="vertex-eu",param="messages",action="downgraded"} 1',
      'gatehouse_params_lost_total{provider="vertex-eu",param="__other__",action="dropped"} 1',
    ]);
  });

  it('count unnamed losses', async () => {
    const bench = createBench();
    const exchange = exchangeOf({ reply: replyOf(false) });
    const losses = [
      { param: 'seed', action: 'dropped', reason: '' },
      { param: '(+99900 more)', action: 'dropped', reason: '', count: 99_900 },
    ] as const;
    exchange.attempts.push(attemptOf({ losses: [...losses], reply: replyOf(false) }));
    bench.record(exchange, endOf(), 3);
    expect((await bench.series()).filter((line) => line.includes('params_lost'))).toEqual([
      'gatehouse_params_lost_total{provider="vertex-eu",param="seed",action="dropped"} 1',
      'gatehouse_params_lost_total{provider="vertex-eu",param="__other__",action="dropped"} 99900',
    ]);
  });

  it('record retries, a resend after a dead connection, and a fallback, each with its reason', async () => {
    const bench = createBench();
    bench.record(fallenBackExchange(), endOf(), 95);
    const series = (await bench.series()).filter((line) => /attempts|retries|fallbacks/.test(line));
    expect(series).toEqual([
      'gatehouse_upstream_attempts_total{provider="vertex-eu",request_model="gemini-2.5-pro",operation="chat",outcome="error",error_type="overloaded",key_id="team-search"} 1',
      'gatehouse_upstream_attempts_total{provider="claude",request_model="claude-sonnet-4-5",operation="chat",outcome="success",error_type="",key_id="team-search"} 1',
      'gatehouse_upstream_retries_total{provider="vertex-eu",reason="stale_connection"} 1',
      'gatehouse_upstream_retries_total{provider="vertex-eu",reason="rate_limited"} 1',
      'gatehouse_fallbacks_total{from_target="vertex-eu",to_target="claude",reason="overloaded"} 1',
    ]);
  });

  it('record the wait of tries for a connection, except tries that got one at once', async () => {
    const bench = createBench();
    const tries = [tryOf(5, 1300, { waitedUntil: 205 }), tryOf(1400, 1500)];
    bench.record(exchangeOf({ attempts: [attemptOf({ tries })] }), endOf(), 1500);
    const series = (await bench.series()).filter((line) => /pool_wait_seconds_(?:sum|count)/.test(line));
    expect(series).toEqual([
      'gatehouse_upstream_pool_wait_seconds_sum{provider="vertex-eu"} 0.2',
      'gatehouse_upstream_pool_wait_seconds_count{provider="vertex-eu"} 1',
    ]);
  });

  it('record a cached reply as a hit, without upstream attempt and tokens', async () => {
    const bench = createBench();
    const exchange = exchangeOf({ reply: replyOf(false) });
    exchange.attempts.push(attemptOf({ cache: 'hit', reply: replyOf(false) }));
    bench.record(exchange, endOf(), 3);
    expect((await bench.series()).filter((line) => !/duration|overhead|_body_/.test(line))).toEqual([
      'gatehouse_requests_total{route="/v1/chat/completions",status_class="2xx",stream="false",cache="hit",key_id="team-search"} 1',
      'gatehouse_cache_requests_total{mode="exact",result="hit"} 1',
    ]);
    expect(bench.lines).toMatchObject([{ cache: 'hit', provider: 'vertex-eu', attempts: [{ tries: 0 }] }]);
  });

  it('record the reply to a near text with its similarity, and the tokens of its vectors', async () => {
    const bench = createBench();
    const exchange = exchangeOf({ reply: replyOf(false) });
    const cache = {
      maxAgeMs: 1,
      scope: 'key',
      semantic: { embeddings: '@v/e', threshold: 0.9, timeoutMs: 1 },
    } as const;
    const embedding = { slug: 'v', modelLabel: 'e', from: 1, to: 3, tokens: 7, result: 'success' } as const;
    const semantic = { result: 'hit', similarity: 0.93456, embedding } as const;
    exchange.attempts.push(
      attemptOf({ target: createTarget({ cache }), cache: 'semantic_hit', semantic, reply: replyOf(false) }),
    );
    bench.record(exchange, endOf(), 3);
    expect((await bench.series()).filter((line) => !/duration|overhead|_body_/.test(line))).toEqual([
      'gatehouse_requests_total{route="/v1/chat/completions",status_class="2xx",stream="false",cache="semantic_hit",key_id="team-search"} 1',
      'gatehouse_tokens_total{provider="v",request_model="e",operation="embeddings",type="input",key_id="team-search"} 7',
      'gatehouse_cache_requests_total{mode="semantic",result="semantic_hit"} 1',
      'gatehouse_cache_embeddings_total{provider="v",result="success"} 1',
    ]);
    expect(bench.lines).toMatchObject([{ cache: 'semantic_hit', semantic: { result: 'hit', similarity: 0.9346 } }]);
  });

  it('count the cache once for each target that was tried', async () => {
    const bench = createBench();
    const exchange = exchangeOf({ reply: replyOf(false) });
    const failed = { error: new UpstreamError('overloaded', 'busy'), tries: [tryOf(1, 2, { status: 529 })] };
    exchange.attempts.push(attemptOf({ cache: 'miss', ...failed }), attemptOf({ number: 1, cache: 'hit' }));
    bench.record(exchange, endOf(), 3);
    expect((await bench.series()).filter((line) => /cache/.test(line))).toEqual([
      'gatehouse_requests_total{route="/v1/chat/completions",status_class="2xx",stream="false",cache="hit",key_id="team-search"} 1',
      'gatehouse_cache_requests_total{mode="exact",result="hit"} 1',
      'gatehouse_cache_requests_total{mode="exact",result="miss"} 1',
    ]);
  });

  it('record the version of a prompt, and how the stored files of a request reached its target', async () => {
    const { record, series, lines } = createBench();
    const exchange = exchangeOf({ reply: replyOf(false), prompt: { id: 'summary', version: 3, media: [] } });
    const file = { id: 'file-gh1', bytes: 9, mime: 'image/png', way: 'uri' as const, uri: 'gs://files/1' };
    exchange.attempts.push(
      attemptOf({
        tries: [tryOf(1, 2)],
        reply: replyOf(false),
        storedFiles: [
          { ...file, param: 'messages[0].content[0]' },
          { ...file, param: 'messages[0].content[1]' },
        ],
      }),
    );
    record(exchange, endOf(), 5);
    expect(await series()).toContain(
      'gatehouse_prompt_requests_total{prompt="summary",version="3",outcome="success"} 1',
    );
    expect(lines[0]).toMatchObject({ prompt: 'summary@3', files: [{ id: 'file-gh1', bytes: 9, way: 'uri' }] });
  });

  it('record uploads by their outcome, with their bytes', async () => {
    const { record, series, lines } = createBench();
    for (const upload of [{ id: 'file-gh1', bytes: 100 }, undefined]) {
      const base = exchangeOf({ upload });
      const operation = { ...base.operation!, id: 'files.create', path: '/v1/files' };
      const exchange = { ...base, operation, request: { ...base.request, bodyBytes: 150 } };
      record(exchange, upload ? endOf() : endOf({ state: 'aborted', bytes: 0 }), 5);
    }
    expect((await series()).filter((line) => line.startsWith('gatehouse_file_'))).toEqual([
      'gatehouse_file_uploads_total{outcome="success"} 1',
      'gatehouse_file_uploads_total{outcome="aborted"} 1',
      'gatehouse_file_upload_bytes_total{outcome="success"} 150',
      'gatehouse_file_upload_bytes_total{outcome="aborted"} 150',
    ]);
    expect(lines.map(({ upload }) => upload)).toEqual([{ id: 'file-gh1', bytes: 100 }, undefined]);
  });

  it('record a rejection by its reason', async () => {
    const bench = createBench();
    const error = new GatewayError('invalid_api_key', 'no');
    bench.record(exchangeOf({ caller: undefined, error }), endOf({ state: 'failed', status: 401, error }), 3);
    expect((await bench.series()).filter((line) => /rejected|requests_total/.test(line))).toEqual([
      'gatehouse_requests_total{route="/v1/chat/completions",status_class="4xx",stream="false",cache="",key_id=""} 1',
      'gatehouse_requests_rejected_total{route="/v1/chat/completions",reason="auth",key_id=""} 1',
    ]);
  });

  it('record a disconnected client by its stage, without overhead', async () => {
    const bench = createBench();
    bench.record(streamedExchange(), endOf({ state: 'aborted', bytes: 10 }), 400);
    const series = await bench.series();
    expect(series).toContain('gatehouse_client_disconnects_total{route="/v1/chat/completions",stage="streaming"} 1');
    expect(series).toContain(
      'gatehouse_requests_total{route="/v1/chat/completions",status_class="4xx",stream="true",cache="",key_id="team-search"} 1',
    );
    expect(series.filter((line) => line.includes('overhead'))).toEqual([]);
  });

  it('record no body size of a client that left while it sent its body', async () => {
    const bench = createBench();
    bench.record(exchangeOf(), endOf({ state: 'aborted', bytes: 0 }), 400);
    const series = await bench.series();
    expect(series).toContain('gatehouse_client_disconnects_total{route="/v1/chat/completions",stage="queued"} 1');
    expect(series.filter((line) => line.includes('request_body_bytes'))).toEqual([]);
  });

  it('count a request in flight from its arrival until its reply has ended, and end it once', async () => {
    const clock = createStillClock();
    const metrics = createMetrics({ clock, build: { version: '', revision: '' }, process: false });
    const log = createLogger({ level: 'silent' });
    const recorder = createRecorder({
      clock,
      metrics,
      models: { answered: (model) => model },
      log,
      ended: new EndedRequests(clock),
      accessLog: () => {},
    });
    const recording = recorder.open(exchangeOf());
    const inFlight = async (): Promise<string | undefined> =>
      /^gatehouse_requests_in_flight\{route="\/v1\/chat\/completions"\} (.*)$/m.exec(
        (await metrics.scrape(undefined)).text,
      )?.[1];
    expect(await inFlight()).toBe('1');
    recording.close(endOf());
    recording.close(endOf());
    expect(await inFlight()).toBe('0');
  });

  it('stay bounded for any paths, models, parameters and providers of callers', async () => {
    const bench = createBench({ mode: 'off' });
    const error = new GatewayError('not_found', 'no');
    for (let index = 0; index < MAX_LABEL_SETS + 500; index += 1) {
      const unmatched = exchangeOf({ id: `${index}`, operation: undefined, error });
      bench.record(unmatched, endOf({ state: 'failed', status: 404, error }), 1);
      const attack = exchangeOf({ json: { model: `model-${index}` } });
      attack.attempts.push(
        attemptOf({
          resolved: { ...vertex, model: `model-${index}`, modelLabel: '__other__' },
          losses: [{ param: `param-${index}`, action: 'dropped', reason: '' }],
          tries: [tryOf(1, 2, { status: 404 })],
          error: new UpstreamError('model_not_found', 'no'),
        }),
        attemptOf({
          number: 1,
          target: { ...attemptOf().target, provider: `@slug-${index}` },
          resolved: undefined,
          error: new GatewayError('unknown_provider', 'no'),
        }),
      );
      bench.record(
        attack,
        endOf({ state: 'failed', status: 400, error: new GatewayError('unknown_provider', 'no') }),
        3,
      );
    }
    const { text } = await bench.metrics.scrape(undefined);
    expect(text).not.toMatch(/(model|param|slug)-\d/);
    expect(text.split('\n').length).toBeLessThan(800);
    expect(text).toContain(
      `gatehouse_params_lost_total{provider="vertex-eu",param="__other__",action="dropped"} ${MAX_LABEL_SETS + 500}\n`,
    );
  });

  it('list the counters that a record adds to, without counting', async () => {
    const bench = createBench();
    const [exchange, end] = [streamedExchange(), endOf({ bytes: 4096 })];
    const asked = countersOf(recordOf(exchange, end, { endedAt: 1305, receivedAt: 0 }), {
      models: { answered: (model) => model },
      callers: new CallersAsLabels(),
    });
    expect(await bench.series()).toEqual([]);
    bench.record(exchange, end, 1305);
    const reported = asked.map(
      ({ name, labels }) =>
        `${name}{${Object.entries(labels)
          .map(([label, value]) => `${label}="${value}"`)
          .join(',')}}`,
    );
    const counted = (await bench.series()).filter((line) => !/_(?:sum|count)\{/.test(line));
    expect(reported.toSorted()).toEqual(counted.map((line) => line.slice(0, line.lastIndexOf(' '))).toSorted());
  });

  it('survive an unreadable exchange, and log it', () => {
    const bench = createBench();
    const exchange = streamedExchange();
    exchange.attempts[0]!.signals!.usage = { input: Number.NaN, output: 1, total: 1 };
    expect(() => bench.record(exchange, endOf(), 1305)).not.toThrow();
    expect(bench.lines.map(({ level, msg }) => [level, msg])).toEqual([
      ['error', 'telemetry could not record a request'],
      ['info', 'request completed'],
    ]);
  });
});

describe('the access line', () => {
  it('of a stream contains all its fields', () => {
    const bench = createBench();
    const exchange = streamedExchange();
    exchange.request.headers['user-agent'] = 'openai-node/6';
    bench.record(exchange, endOf({ bytes: 4096 }), 1305);
    expect(bench.lines).toEqual([
      {
        level: 'info',
        time: '2026-01-01T00:00:01.305Z',
        request_id: 'req-1',
        trace_id: '0af7651916cd43dd8448eb211c80319c',
        method: 'POST',
        route: '/v1/chat/completions',
        path: '/v1/chat/completions',
        status: 200,
        duration_ms: 1305,
        overhead_ms: 10,
        ttfc_ms: 305,
        bytes_in: exchange.request.bodyBytes,
        bytes_out: 4096,
        stream: true,
        config_hash: '0123456789abcdef',
        config_id: 'prod',
        gateway_config_hash: 'test-config-hash',
        key_id: 'team-search',
        provider: 'vertex-eu',
        request_model: 'gemini-2.5-pro',
        response_model: 'gemini-2.5-pro-002',
        finish_reason: 'stop',
        attempts: [
          {
            target: 'config.targets[0]',
            why: 'only',
            provider: 'vertex-eu',
            tries: 1,
            status: 200,
            duration_ms: 1298,
          },
        ],
        retries: 0,
        losses: ['messages[2].content[0]:downgraded', 'my_own_idea:dropped'],
        tokens: { input: 1000, output: 200, cache_read: 600, reasoning: 50 },
        client_ip: '127.0.0.1',
        user_agent: 'openai-node/6',
        msg: 'request completed',
      },
    ]);
  });

  it('of a fallback lists every attempt with its outcome', () => {
    const bench = createBench();
    bench.record(fallenBackExchange(), endOf(), 95);
    expect(bench.lines[0]).toMatchObject({
      provider: 'claude',
      retries: 1,
      attempts: [
        {
          target: 'config.targets[0]',
          provider: 'vertex-eu',
          tries: 2,
          status: 503,
          duration_ms: 28,
          error_code: 'overloaded',
          upstream_kind: 'UNAVAILABLE',
          upstream_message: 'The model is busy.',
          upstream_code: '503',
        },
        { target: 'config.targets[1]', provider: 'claude', tries: 1, status: 200, duration_ms: 59 },
      ],
    });
  });

  it.each([
    ['info', 'request completed', endOf()],
    [
      'warn',
      'request failed',
      endOf({ state: 'failed', status: 400, error: new GatewayError('invalid_json', 'canary-content') }),
    ],
    [
      'error',
      'request failed',
      endOf({ state: 'failed', status: 502, error: new UpstreamError('connection_failed', 'canary-content') }),
    ],
    [
      'error',
      'request failed',
      endOf({ state: 'failed', status: 200, error: new UpstreamError('stream_interrupted', 'canary-content') }),
    ],
    ['info', 'client left', endOf({ state: 'aborted' })],
  ] as const)('has level %s: %s', (level, msg, end) => {
    const bench = createBench();
    bench.record(exchangeOf(), end, 5);
    expect(bench.lines).toMatchObject([{ level, msg, status: end.state === 'aborted' ? 499 : end.status }]);
    expect(JSON.stringify(bench.lines)).not.toContain('canary');
  });

  it.each([
    ['errors', ['request failed']],
    ['off', []],
  ] as const)('is written as log.access: %s says', (mode, messages) => {
    const bench = createBench({ mode });
    bench.record(exchangeOf(), endOf(), 5);
    bench.record(
      exchangeOf(),
      endOf({ state: 'failed', status: 500, error: new GatewayError('internal_error', 'no') }),
      5,
    );
    expect(bench.lines.map(({ msg }) => msg)).toEqual(messages);
  });

  it('has the metadata of the caller and of its key, which wins', () => {
    const bench = createBench();
    const caller = createCaller({ keyId: 'team', metadata: { team: 'search' } });
    const metadata = { team: 'ads', user: 'ana\u001b[2J' };
    bench.record(exchangeOf({ caller, metadata, droppedMetadata: 1 }), endOf(), 5);
    bench.record(exchangeOf(), endOf(), 5);
    expect(bench.lines).toMatchObject([
      { key_id: 'team', metadata: { team: 'search', user: 'ana\ufffd[2J' }, metadata_dropped: 1 },
      {},
    ]);
    expect(bench.lines[1]).not.toHaveProperty('metadata');
  });

  it('lists the skipped targets', () => {
    const bench = createBench();
    const target = createTarget({ path: 'config.targets[1]' });
    bench.record(exchangeOf({ skipped: [{ target, reason: 'circuit_open', after: 0 }] }), endOf(), 5);
    expect(bench.lines).toMatchObject([
      { skipped: [{ target: 'config.targets[1]', reason: 'circuit_open', after: 0 }] },
    ]);
  });

  it('is written for at most ten requests per second rejected by overload, and counts the omitted ones; metrics count all', async () => {
    const bench = createBench();
    const refuse = (times: number, at: number): void => {
      for (let count = 0; count < times; count += 1) {
        const error = new GatewayError('busy', 'full');
        bench.record(exchangeOf({ error, startedAt: at }), endOf({ state: 'failed', status: 503, error }), at);
      }
    };
    refuse(500, 500);
    expect(bench.lines).toHaveLength(10);
    refuse(1, 2000);
    expect(bench.lines.map((line) => line['not_logged'])).toEqual([...Array(10).fill(undefined), 490]);
    const other = new GatewayError('invalid_api_key', 'no');
    for (let count = 0; count < 20; count += 1)
      bench.record(exchangeOf({ error: other }), endOf({ state: 'failed', status: 401, error: other }), 2000);
    expect(bench.lines).toHaveLength(31);
    expect(await bench.series()).toContainEqual(expect.stringMatching(/reason="overload",key_id="team-search"\} 501$/));
  });

  it('is bounded: texts of callers are truncated', () => {
    const bench = createBench();
    const exchange = exchangeOf({ headers: { 'user-agent': 'u'.repeat(10_000) } });
    const losses = Array.from({ length: 1000 }, (_, index) => ({
      param: `p${index}`.padEnd(5000, 'x'),
      action: 'dropped' as const,
      reason: '',
    }));
    exchange.attempts.push(attemptOf({ losses, tries: [tryOf(1, 2)] }));
    bench.record({ ...exchange, request: { ...exchange.request, path: `/${'p'.repeat(10_000)}` } }, endOf(), 5);
    expect(JSON.stringify(bench.lines[0]).length).toBeLessThan(8000);
  });

  it('and the metrics contain no secret of the exchange', async () => {
    const bench = createBench();
    const secret = 'canary-secret-0123456789';
    const exchange = streamedExchange();
    Object.assign(exchange.request.headers, {
      authorization: `Bearer ${secret}`,
      'x-api-key': secret,
      cookie: secret,
      'x-gateway-metadata': secret,
    });
    exchange.metadata = { token: `sk-${secret}` };
    const failed = new UpstreamError('invalid_api_key', `key ${secret} is wrong`, { cause: new Error(secret) });
    exchange.attempts.unshift(
      attemptOf({
        resolved: { ...vertex, headers: { authorization: secret } },
        tries: [tryOf(1, 2, { error: failed })],
        error: failed,
      }),
    );
    bench.record(exchange, endOf({ state: 'failed', status: 200, error: failed }), 1305);
    expect(JSON.stringify(bench.lines) + (await bench.metrics.scrape(undefined)).text).not.toContain('canary');
  });
});

/** A recorder with all outputs, each of which may fail. Nothing is flushed but by what reads. */
function createQueueBench({ failing = '' } = {}) {
  const clock = createStillClock();
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  const log = createLogger({ level: 'info', clock, destination });
  const ended = new EndedRequests(clock);
  const build = { version: '', revision: '' };
  const metrics = createMetrics({ clock, build, process: false, flush: ended.flush });
  const records = new RecordStore(clock, ended.flush);
  records.resize(10);
  const accessLog = createAccessLog({
    log,
    lines: { write: (line) => destination.write(line) },
    mode: 'all',
  });
  const recorder = createRecorder({
    clock,
    metrics,
    models: { answered: (model) => model },
    log,
    ended,
    records,
    accessLog(record, wallMs) {
      if (record.id === failing) throw new Error('no line');
      accessLog(record, wallMs);
    },
  });
  const counted = async (): Promise<string[]> =>
    (await metrics.scrape(undefined)).text.match(/^gatehouse_requests_total\{.*[1-9]$/gm) ?? [];
  return { recorder, ended, lines, metrics, records, counted };
}

describe('an ended request', () => {
  it('is counted by the next scrape and by the next snapshot', async () => {
    const { recorder, metrics, counted } = createQueueBench();
    recorder.open(exchangeOf()).close(endOf());
    expect(await counted()).toEqual([expect.stringMatching(/status_class="2xx".* 1$/)]);
    recorder.open(exchangeOf()).close(endOf());
    const families = await metrics.snapshot('cumulative');
    const requests = families.find(({ name }) => name === 'gatehouse_requests_total');
    expect(requests?.values.filter(({ value }) => value > 0)).toMatchObject([{ value: 2 }]);
  });

  it('is found by the next look-up, by id, by explain id and in the list', () => {
    const { recorder, records } = createQueueBench();
    const end = (id: string): void => recorder.open(exchangeOf({ id, explainId: `explains-${id}` })).close(endOf());
    end('a');
    expect(records.find('a')).toMatchObject({ request_id: 'a', state: 'complete' });
    end('b');
    expect(records.explained('explains-b')).toMatchObject({ request_id: 'b' });
    end('c');
    expect(records.list({ limit: 9 })).toMatchObject([{ request_id: 'c' }, { request_id: 'b' }, { request_id: 'a' }]);
  });

  it('is recorded as it was at its end', () => {
    const { recorder, ended, lines } = createQueueBench();
    const exchange = streamedExchange();
    recorder.open(exchange).close(endOf());
    exchange.attempts.length = 0;
    exchange.request.headers['user-agent'] = 'changed';
    ended.flush();
    expect(lines).toMatchObject([{ provider: 'vertex-eu', tokens: { input: 1000 } }]);
    expect(lines[0]).not.toHaveProperty('user_agent');
  });

  it('has its other outputs, and those of other requests, if one fails', async () => {
    const { recorder, ended, lines, records, counted } = createQueueBench({ failing: 'b' });
    for (const id of ['a', 'b', 'c']) recorder.open(exchangeOf({ id })).close(endOf());
    ended.flush();
    expect(lines.map(({ level, request_id: id, msg }) => [level, id, msg])).toEqual([
      ['info', 'a', 'request completed'],
      ['error', 'b', 'telemetry could not record a request'],
      ['info', 'c', 'request completed'],
    ]);
    expect(records.list({ limit: 9 })).toHaveLength(3);
    expect(await counted()).toEqual([expect.stringMatching(/ 3$/)]);
  });
});
