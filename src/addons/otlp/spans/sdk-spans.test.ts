import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
  AlwaysOffSampler,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace';
import { describe, expect, it } from 'vitest';
import { GatewayError, UpstreamError, type ReplyEnd } from '../../../plugin/index.ts';
import type { Exchange } from '../../../core/kernel/index.ts';
import { createCaller } from '../../../plugin/testing/index.ts';
import {
  anthropic,
  attemptOf,
  endOf,
  exchangeOf,
  replyOf,
  signalsOf,
  streamedExchange,
  tryOf,
  WALL,
} from '../../../core/record/exchange.testkit.ts';
import { timeOf, type SpanOptions } from './request-spans.ts';
import { openServerSpan } from '../open-spans.ts';
import { recordOf } from '../../../core/record/make-record.ts';

interface Seen {
  readonly span: ReadableSpan;
  readonly name: string;
  readonly parent: string | undefined;
  /** Milliseconds since the request's arrival. */
  readonly from: number;
  readonly to: number;
  readonly status: number;
  readonly attributes: ReadableSpan['attributes'];
}

function record(exchange: Exchange, end: ReplyEnd, endedAt: number, options?: SpanOptions): Seen[] {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const span = openServerSpan(provider.getTracer('test'), exchange, WALL, options);
  span.close(recordOf(exchange, end, { endedAt, receivedAt: WALL }));
  const spans = exporter.getFinishedSpans();
  const nameOf = new Map(spans.map((one) => [one.spanContext().spanId, one.name]));
  const ms = ([seconds, nanos]: ReadableSpan['startTime']): number => Math.round(seconds * 1000 + nanos / 1e6 - WALL);
  return spans.map((one) => ({
    span: one,
    name: one.name,
    parent: one.parentSpanContext && nameOf.get(one.parentSpanContext.spanId),
    from: ms(one.startTime),
    to: ms(one.endTime),
    status: one.status.code,
    attributes: one.attributes,
  }));
}

const treeOf = (seen: readonly Seen[]): unknown[] =>
  seen.map(({ name, parent, from, to, status }) => [name, parent, from, to, status]);

describe('the spans of a request', () => {
  it.each(['hit', 'shared'] as const)('are only the server span for a reply from the cache (%s)', (cache) => {
    const exchange = exchangeOf({ reply: replyOf(false) });
    exchange.attempts.push(attemptOf({ cache, reply: replyOf(false) }));
    const seen = record(exchange, endOf(), 5);
    expect(treeOf(seen)).toEqual([['POST /v1/chat/completions', undefined, 0, 5, 0]]);
    expect(seen[0]?.attributes).toMatchObject({ 'gatehouse.cache.status': cache });
  });

  it('contain the similarity of the nearest text of a semantic cache', () => {
    const hit = exchangeOf({ reply: replyOf(false) });
    const semantic = { result: 'hit', similarity: 0.961_234_5 } as const;
    hit.attempts.push(attemptOf({ cache: 'semantic_hit', semantic, reply: replyOf(false) }));
    expect(record(hit, endOf(), 5).map(({ attributes }) => attributes['gatehouse.cache.similarity'])).toEqual([0.9612]);
    const miss = streamedExchange();
    Object.assign(miss.attempts[0]!, { cache: 'miss', semantic: { result: 'below_threshold', similarity: 0.5 } });
    const seen = record(miss, endOf(), 1305);
    expect(seen.map(({ attributes }) => attributes['gatehouse.cache.similarity'])).toEqual([undefined, 0.5, 0.5]);
  });

  it('have the team of the key', () => {
    const exchange = { ...streamedExchange(), caller: createCaller({ keyId: 'k', team: 'search' }) };
    expect(record(exchange, endOf(), 1305).at(-1)?.attributes).toMatchObject({
      'gatehouse.key.id': 'k',
      'gatehouse.team': 'search',
    });
  });

  it('also have the names of v1.41 with `semconv: both`', () => {
    const exchange = streamedExchange();
    const cacheWrite = { input: 10, output: 1, total: 11, cacheWrite: 7 };
    Object.assign(exchange.attempts[0]!, { signals: signalsOf({ usage: cacheWrite }) });
    const attributes = (semconv: 'latest' | 'both') =>
      record(exchange, endOf(), 1305, { semconv }).map(
        (one) => one.attributes['gen_ai.usage.cache_creation.input_tokens'],
      );
    expect(attributes('both')).toEqual([undefined, 7, undefined]);
    expect(attributes('latest')).toEqual([undefined, undefined, undefined]);
  });

  it('name the prompt and its version at the server span and at inference spans', () => {
    const exchange = { ...streamedExchange(), prompt: { id: 'summary', version: 3, media: [] } };
    const seen = record(exchange, endOf(), 1305);
    expect(
      seen.map(({ attributes }) => [attributes['gen_ai.prompt.name'], attributes['gen_ai.prompt.version']]),
    ).toEqual([
      [undefined, undefined],
      ['summary', '3'],
      ['summary', '3'],
    ]);
  });

  it('are only the server span for an estimated count of tokens', () => {
    const exchange = exchangeOf({ reply: replyOf(false) });
    exchange.attempts.push(attemptOf({ resolved: { ...anthropic, estimatesTokens: true }, reply: replyOf(false) }));
    expect(treeOf(record(exchange, endOf(), 5))).toEqual([['POST /v1/chat/completions', undefined, 0, 5, 0]]);
  });

  it('contain the cache status of a request that the cache could not answer', () => {
    const exchange = streamedExchange();
    exchange.attempts[0]!.cache = 'miss';
    const statuses = record(exchange, endOf(), 1305).map(({ attributes }) => attributes['gatehouse.cache.status']);
    expect(statuses).toEqual([undefined, 'miss', 'miss']);
  });

  it('are a server span, an inference span and an HTTP span, with the times of the exchange', () => {
    const seen = record(streamedExchange(), endOf(), 1305);
    expect(treeOf(seen)).toEqual([
      ['POST', 'chat gemini-2.5-pro', 5, 1300, 0],
      ['chat gemini-2.5-pro', 'POST /v1/chat/completions', 2, 1300, 0],
      ['POST /v1/chat/completions', undefined, 0, 1305, 0],
    ]);
    expect(seen.map(({ attributes }) => attributes)).toEqual([
      {
        'http.request.method': 'POST',
        'url.full':
          'https://europe-west1-aiplatform.googleapis.com/v1/projects/p/locations/europe-west1/publishers/google/models/gemini-2.5-pro:streamGenerateContent',
        'server.address': 'europe-west1-aiplatform.googleapis.com',
        'server.port': 443,
        'http.response.status_code': 200,
      },
      {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'gcp.vertex_ai',
        'gen_ai.request.model': 'gemini-2.5-pro',
        'server.address': 'europe-west1-aiplatform.googleapis.com',
        'server.port': 443,
        'gatehouse.provider.slug': 'vertex-eu',
        'gatehouse.config.target': 'config.targets[0]',
        'gatehouse.attempt': 0,
        'gatehouse.config.id': 'prod',
        'gen_ai.request.stream': true,
        'gen_ai.response.time_to_first_chunk': 0.3,
        'gen_ai.response.model': 'gemini-2.5-pro-002',
        'gen_ai.response.finish_reasons': ['stop'],
        'gen_ai.usage.input_tokens': 1000,
        'gen_ai.usage.output_tokens': 200,
        'gen_ai.usage.cache_read.input_tokens': 600,
        'gen_ai.usage.reasoning.output_tokens': 50,
        'gatehouse.params_lost': ['messages[2].content[0]', 'my_own_idea'],
      },
      {
        'http.request.method': 'POST',
        'http.route': '/v1/chat/completions',
        'url.path': '/v1/chat/completions',
        'url.scheme': 'http',
        'client.address': '127.0.0.1',
        'http.response.status_code': 200,
        'gatehouse.request.id': 'req-1',
        'gatehouse.key.id': 'team-search',
        'gen_ai.usage.input_tokens': 1000,
        'gen_ai.usage.output_tokens': 200,
        'gatehouse.config.id': 'prod',
      },
    ]);
  });

  it('have a sibling per target and a child per try, with resends counted', () => {
    const exchange = exchangeOf({ reply: replyOf(false) });
    const error = new UpstreamError('overloaded', 'busy');
    exchange.attempts.push(
      attemptOf({
        tries: [tryOf(2, 10, { status: 503, error }), tryOf(20, 30, { status: 503, error, resent: true })],
        error,
      }),
      attemptOf({
        number: 1,
        startedAt: 31,
        resolved: anthropic,
        tries: [tryOf(32, 90)],
        reply: replyOf(false),
        signals: signalsOf({ finish: 'stop' }),
      }),
    );
    const seen = record(exchange, endOf(), 95);
    expect(treeOf(seen)).toEqual([
      ['POST', 'chat gemini-2.5-pro', 2, 10, 2],
      ['POST', 'chat gemini-2.5-pro', 20, 30, 2],
      ['chat gemini-2.5-pro', 'POST /v1/chat/completions', 2, 30, 2],
      ['POST', 'chat claude-sonnet-4-5', 32, 90, 0],
      ['chat claude-sonnet-4-5', 'POST /v1/chat/completions', 31, 90, 0],
      ['POST /v1/chat/completions', undefined, 0, 95, 0],
    ]);
    expect(seen.map(({ attributes }) => attributes['http.request.resend_count'])).toEqual([
      undefined,
      2,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(seen[2]?.attributes).toMatchObject({
      'error.type': 'overloaded',
      'gen_ai.response.finish_reasons': ['error'],
      'gatehouse.error.code': 'overloaded',
    });
    expect(seen[4]?.attributes).toMatchObject({
      'server.address': '127.0.0.1',
      'server.port': 9999,
      'gatehouse.attempt': 1,
    });
  });

  it('contain those of plugins, below the server span and with the times of the exchange', () => {
    const exporter = new InMemorySpanExporter();
    const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
    const span = openServerSpan(provider.getTracer('test'), exchangeOf({ startedAt: 100 }), WALL);
    span.addSpan!({ name: 'mask look up', startedAt: 105, durationMs: 7, isError: true, attributes: [['team', 'a']] });
    const [own] = exporter.getFinishedSpans();
    expect(own).toMatchObject({ name: 'mask look up', attributes: { team: 'a' }, status: { code: 2 } });
    expect(own?.parentSpanContext?.spanId).toBe(span.spanId);
    expect(own?.spanContext().traceId).toBe(span.traceId);
    expect([own?.startTime, own?.endTime]).toEqual([timeOf(WALL + 5), timeOf(WALL + 12)]);
  });

  it('end with the client’s disconnect as their error type', () => {
    const exchange = streamedExchange();
    exchange.attempts[0]!.tries[0]!.endedAt = undefined;
    const seen = record(exchange, endOf({ state: 'aborted', bytes: 5 }), 400);
    expect(treeOf(seen)).toEqual([
      ['POST', 'chat gemini-2.5-pro', 5, 400, 2],
      ['chat gemini-2.5-pro', 'POST /v1/chat/completions', 2, 400, 2],
      ['POST /v1/chat/completions', undefined, 0, 400, 0],
    ]);
    expect(seen[1]?.attributes).toMatchObject({
      'error.type': 'client_disconnected',
      'gen_ai.response.finish_reasons': ['error'],
    });
    expect(seen[2]?.attributes).toMatchObject({
      'error.type': 'client_disconnected',
      'http.response.status_code': 499,
    });
  });

  it('have no inference span without a target, and an unset status for a client error', () => {
    const error = new GatewayError('unknown_provider', 'no');
    const exchange = exchangeOf({ error });
    exchange.attempts.push(attemptOf({ resolved: undefined, outbound: undefined, error }));
    const seen = record(exchange, endOf({ state: 'failed', status: 400, error }), 3);
    expect(treeOf(seen)).toEqual([['POST /v1/chat/completions', undefined, 0, 3, 0]]);
    expect(seen[0]?.attributes).toMatchObject({
      'error.type': 'invalid_request',
      'gatehouse.error.code': 'unknown_provider',
    });
  });

  it.each([
    ['POST', 'POST', 'POST'],
    ['BREW', 'HTTP', '_OTHER'],
  ])('of %s on an unknown path is named %s', (method, name, attribute) => {
    const base = exchangeOf({ operation: undefined });
    const seen = record(
      { ...base, request: { ...base.request, method, path: '/admin.php' } },
      endOf({ state: 'failed', status: 404 }),
      1,
    );
    expect(seen[0]).toMatchObject({ name, attributes: { 'http.request.method': attribute } });
    expect(seen[0]?.attributes).not.toHaveProperty('http.route');
  });

  it('continue the trace of the caller', () => {
    const exchange = exchangeOf({
      headers: { traceparent: '00-11111111111111111111111111111111-2222222222222222-01', tracestate: 'a=1' },
    });
    const [seen] = record(exchange, endOf(), 5);
    expect(seen?.span.spanContext()).toMatchObject({ traceId: '1'.repeat(32) });
    expect(seen?.span.parentSpanContext).toMatchObject({ spanId: '2'.repeat(16), isRemote: true });
    expect(seen?.span.spanContext().traceState?.serialize()).toBe('a=1');
  });

  it('are not recorded for a caller that does not sample, but keep its trace id', () => {
    const exchange = exchangeOf({
      headers: { traceparent: '00-11111111111111111111111111111111-2222222222222222-00' },
    });
    expect(record(exchange, endOf(), 5)).toEqual([]);
    const off = new TracerProvider({ sampler: new AlwaysOffSampler() });
    expect(openServerSpan(off.getTracer('test'), exchange, WALL).traceId).toBe('1'.repeat(32));
  });

  it('have the metadata of the request at the server span', () => {
    const caller = createCaller({ keyId: 'team', metadata: { team: 'search' } });
    const [server] = record(exchangeOf({ caller, metadata: { env: 'prod' } }), endOf(), 5);
    expect(server?.span.attributes).toMatchObject({
      'gatehouse.metadata.team': 'search',
      'gatehouse.metadata.env': 'prod',
    });
  });

  it('contain neither content nor secrets', () => {
    const exchange = streamedExchange();
    const canary = 'canary-secret';
    Object.assign(exchange.request.headers, {
      authorization: canary,
      'x-api-key': canary,
      cookie: canary,
      baggage: `k=${canary}`,
    });
    exchange.metadata = { team: `sk-${canary}` };
    const error = new UpstreamError('upstream_error', canary, { cause: new Error(canary) });
    exchange.attempts.unshift(
      attemptOf({
        resolved: { ...anthropic, path: `/v1/x?key=${canary}`, headers: { authorization: canary } },
        tries: [tryOf(1, 2, { error })],
        error,
      }),
    );
    const seen = record(exchange, endOf({ state: 'failed', error }), 1305);
    const text = JSON.stringify(
      seen.map(({ span: { name, attributes, events, status, resource } }) => ({
        name,
        attributes,
        events,
        status,
        resource: resource.attributes,
      })),
    );
    expect(text).not.toContain('canary');
  });
});
