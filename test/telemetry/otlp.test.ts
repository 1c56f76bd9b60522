import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { once } from 'node:events';
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createAccessLog } from '../../src/core/record/log/access-log.ts';
import { createStillClock, endOf, streamedExchange } from '../../src/core/record/exchange.testkit.ts';
import { createLogger } from '../../src/core/record/log/logger.ts';
import { EndedRequests } from '../../src/core/record/ended-requests.ts';
import { createRecorder } from '../../src/core/record/recorder.ts';
import { createMetrics, type Metrics } from '../../src/core/record/metrics/registry.ts';
import type { Telemetry } from '../../src/core/record/telemetry.ts';
import { startOtel } from '../../src/addons/otlp/start-otel.ts';
import { listen, type Listening } from './listen.testkit.ts';

interface OtlpSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
}
interface OtlpBody {
  readonly resourceSpans: readonly {
    readonly resource: {
      readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
    };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

interface OtlpAttribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string };
}
interface OtlpPoint {
  readonly attributes: readonly OtlpAttribute[];
  readonly asDouble?: number;
  readonly count?: number;
  readonly sum?: number;
}
interface OtlpMetric {
  readonly name: string;
  readonly unit: string;
  readonly sum?: { readonly dataPoints: readonly OtlpPoint[] };
  readonly histogram?: { readonly dataPoints: readonly OtlpPoint[] };
}
interface OtlpMetrics {
  readonly resourceMetrics: readonly {
    readonly scopeMetrics: readonly { readonly metrics: readonly OtlpMetric[] }[];
  }[];
}
interface OtlpLogs {
  readonly resourceLogs: readonly {
    readonly scopeLogs: readonly {
      readonly logRecords: readonly {
        readonly body: { readonly stringValue?: string };
        readonly severityText: string;
        readonly traceId?: string;
        readonly spanId?: string;
        readonly attributes: readonly OtlpAttribute[];
      }[];
    }[];
  }[];
}

interface Received {
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A collector in ten lines: http/json needs no protobuf to be read. */
async function collect(): Promise<{ received: Received[] } & Listening> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      received.push({ path: request.url, headers: request.headers, body: Buffer.concat(pieces) });
      const type = request.headers['content-type'] ?? '';
      // An empty message of protobuf has no bytes.
      response.writeHead(200, { 'content-type': type }).end(type === 'application/json' ? '{}' : '');
    });
  });
  return { received, ...(await listen(server)) };
}

/** A collector of gRPC: HTTP/2 with a status in the trailers. */
async function collectGrpc(): Promise<{ received: Received[]; url: string; close(): Promise<void> }> {
  const received: Received[] = [];
  const server = createHttp2Server();
  server.on('stream', (stream, headers) => {
    const pieces: Buffer[] = [];
    stream.on('data', (piece: Buffer) => pieces.push(piece));
    stream.on('end', () => {
      received.push({ path: headers[':path'], headers, body: Buffer.concat(pieces) });
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      // An empty message, not compressed.
      stream.end(Buffer.alloc(5));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no TCP address');
  return {
    received,
    url: `http://127.0.0.1:${address.port}`,
    async close() {
      server.close();
      await once(server, 'close');
    },
  };
}

const OTEL = /^OTEL_/;
const before = Object.entries(process.env).filter(([name]) => OTEL.test(name));
const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
  for (const name of Object.keys(process.env)) if (OTEL.test(name)) delete process.env[name];
  Object.assign(process.env, Object.fromEntries(before));
});

/** A server that the end of the test closes. */
async function opened<Server extends { close(): Promise<void> }>(opening: Promise<Server>): Promise<Server> {
  const server = await opening;
  open.push(() => server.close());
  return server;
}

const ONLY_TRACES = { OTEL_METRICS_EXPORTER: 'none', OTEL_LOGS_EXPORTER: 'none' };

interface Started {
  readonly otel: Telemetry;
  readonly metrics: Metrics;
  /** Lines of the log that reports on exports. */
  readonly lines: string[];
}

/** The OTLP packages read their own variables from `process.env`. */
async function start(
  env: Record<string, string>,
  yaml?: Parameters<typeof startOtel>[0]['yaml'],
  shutdownMs?: number,
): Promise<Started> {
  Object.assign(process.env, env);
  const lines: string[] = [];
  const log = createLogger({ level: 'info', destination: { write: (line) => void lines.push(line) } });
  const clock = createStillClock();
  const metrics = createMetrics({ clock, build: { version: '0.1.0', revision: '' }, process: false });
  const otel = await startOtel({
    env: process.env,
    yaml,
    version: '0.1.0',
    log,
    metrics,
    ...(shutdownMs && { shutdownMs }),
  });
  if (!otel) throw new Error('OpenTelemetry did not start');
  open.push(() => otel.shutdown());
  return { otel, metrics, lines };
}

function recordOne(
  { otel, metrics }: Started,
  headers: Record<string, string> = {},
): { traceId: string; line: Record<string, unknown> } {
  const clock = createStillClock();
  let line = '';
  const destination = {
    write(text: string) {
      line = text;
      otel.writeLine?.(text);
    },
  };
  const log = createLogger({ level: 'info', clock, destination });
  const ended = new EndedRequests(clock);
  const recorder = createRecorder({
    clock,
    metrics,
    models: { answered: (model) => model },
    log,
    ended,
    accessLog: createAccessLog({ log, lines: { write: (line) => destination.write(line) }, mode: 'all' }),
    openSpan: otel.openSpan,
    countSemconv: otel.countRequest,
  });
  const exchange = streamedExchange();
  Object.assign(exchange.request.headers, headers);
  const recording = recorder.open(exchange);
  clock.set(1305);
  recording.close(endOf());
  ended.flush();
  return { traceId: exchange.trace.traceId, line: JSON.parse(line) as Record<string, unknown> };
}

const parse = (body: Buffer): OtlpBody => JSON.parse(body.toString('utf8')) as OtlpBody;
const spansOf = (body: Buffer): OtlpSpan[] =>
  parse(body).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));

function treeOf(spans: readonly OtlpSpan[]): unknown[] {
  const childrenOf = (parent: string | undefined): unknown[] =>
    spans
      .filter(({ parentSpanId }) => (parentSpanId ?? '') === (parent ?? ''))
      .map(({ name, spanId }) => [name, ...childrenOf(spanId)]);
  return childrenOf(undefined);
}

describe('OTLP export', () => {
  it('over http/json brings a collector the span tree, the resource and the headers the environment names', async () => {
    const collector = await opened(collect());
    const started = await start({
      ...ONLY_TRACES,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=acme',
      OTEL_SERVICE_NAME: 'edge-gateway',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    });
    const { traceId, line } = recordOne(started);
    await started.otel.flush();
    expect(collector.received).toHaveLength(1);
    const [{ path, headers, body } = { path: '', headers: {}, body: Buffer.alloc(0) }] = collector.received;
    expect([path, headers['content-type'], headers['x-tenant']]).toEqual(['/v1/traces', 'application/json', 'acme']);
    const spans = spansOf(body);
    expect(treeOf(spans)).toEqual([['POST /v1/chat/completions', ['chat gemini-2.5-pro', ['POST']]]]);
    expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
    expect(line).toMatchObject({
      trace_id: traceId,
      span_id: spans.find(({ name }) => name === 'POST /v1/chat/completions')?.spanId,
    });
    const resource = Object.fromEntries(
      parse(body).resourceSpans[0]?.resource.attributes.map(({ key, value }) => [key, value.stringValue]) ?? [],
    );
    expect(resource).toMatchObject({
      'service.name': 'edge-gateway',
      'service.version': '0.1.0',
      'deployment.environment.name': 'test',
    });
  });

  it('continues the trace of the caller', async () => {
    const collector = await opened(collect());
    const started = await start(
      {},
      { traces: { endpoint: `${collector.url}/custom`, protocol: 'http/json', service_name: 'from-yaml' } },
    );
    const { traceId } = recordOne(started, { traceparent: '00-11111111111111111111111111111111-2222222222222222-01' });
    await started.otel.flush();
    expect(traceId).toBe('1'.repeat(32));
    expect(collector.received[0]?.path).toBe('/custom');
    const body = collector.received[0]?.body ?? Buffer.alloc(0);
    expect(spansOf(body).find(({ kind }) => kind === 2)?.parentSpanId).toBe('2'.repeat(16));
    expect(body.toString()).toContain('from-yaml');
  });

  it.each([
    ['the gateway', {}, true],
    ['the SDK, where attributes have limits,', { OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: '14' }, false],
  ])('over http/protobuf is the default: %s writes it, with the settings of the exporter', async (_, env, isWhole) => {
    const collector = await opened(collect());
    const started = await start({
      ...ONLY_TRACES,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=acme',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_SERVICE_NAME: 'edge-gateway',
      ...env,
    });
    recordOne(started);
    await started.otel.shutdown();
    const [{ path, headers, body } = { path: '', headers: {}, body: Buffer.alloc(0) }] = collector.received;
    expect([path, headers['content-type'], headers['x-tenant']]).toEqual([
      '/v1/traces',
      'application/x-protobuf',
      'acme',
    ]);
    const bytes = gunzipSync(body);
    expect(['edge-gateway', 'chat gemini-2.5-pro', 'host.name'].filter((text) => !bytes.includes(text))).toEqual([]);
    expect(bytes.includes('gemini-2.5-pro-002')).toBe(isWhole);
    expect(started.lines).toEqual([]);
  });

  it('obeys the sampler', async () => {
    const collector = await opened(collect());
    const started = await start({
      ...ONLY_TRACES,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_TRACES_SAMPLER: 'always_off',
    });
    const { traceId } = recordOne(started);
    await started.otel.shutdown();
    expect(traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(collector.received).toEqual([]);
  });

  it.each([
    ['when flushed', 60_000, 'telemetry could not be exported'],
    ['in the background', 1, '"component":"opentelemetry"'],
  ])('that fails %s is logged and harms no request', async (when, delay, message) => {
    const collector = await collect();
    await collector.close();
    const started = await start({
      ...ONLY_TRACES,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_TIMEOUT: '500',
      OTEL_BSP_SCHEDULE_DELAY: String(delay),
    });
    expect(recordOne(started).line).toMatchObject({ status: 200 });
    if (when === 'when flushed') await started.otel.flush();
    await vi.waitFor(() => expect(started.lines.join('')).toContain(message), { timeout: 60_000 });
    expect(started.lines.join('')).toContain('ECONNREFUSED');
  });

  it('waits for a collector that does not answer no longer than its limit at the end', async () => {
    const silent = await opened(listen(createServer(() => {})));
    const started = await start({ ...ONLY_TRACES, OTEL_EXPORTER_OTLP_ENDPOINT: silent.url }, undefined, 100);
    recordOne(started);
    await started.otel.shutdown();
    expect(started.lines.join('')).toContain('the collector did not take them within 100 ms');
  });

  it('warns of resource attributes that cannot be read', async () => {
    const { lines } = await start({ OTEL_TRACES_EXPORTER: 'otlp', OTEL_RESOURCE_ATTRIBUTES: 'no pairs here' });
    expect(lines.join('')).toContain('OTEL_RESOURCE_ATTRIBUTES cannot be read');
  });

  it('over gRPC brings a collector all three signals', async () => {
    const collector = await opened(collectGrpc());
    const started = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=acme',
    });
    recordOne(started);
    await started.otel.flush();
    const byPath = new Map(collector.received.map(({ path, ...received }) => [path, received]));
    expect([...byPath.keys()].toSorted()).toEqual([
      '/opentelemetry.proto.collector.logs.v1.LogsService/Export',
      '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export',
      '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
    ]);
    const [logs, metrics, traces] = [...byPath].toSorted().map(([, { body }]) => body);
    expect(logs?.includes('request completed')).toBe(true);
    expect(metrics?.includes('gen_ai.client.inference.duration')).toBe(true);
    expect(traces?.includes('chat gemini-2.5-pro')).toBe(true);
    expect([...byPath.values()].map(({ headers }) => headers['x-tenant'])).toEqual(['acme', 'acme', 'acme']);
    expect(started.lines).toEqual([]);
  });

  it('over http/json brings a collector metrics of the conventions and of Gatehouse, from the same records', async () => {
    const collector = await opened(collect());
    const started = await start({
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${collector.url}/v1/metrics`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    });
    recordOne(started);
    recordOne(started);
    await started.otel.flush();
    const points = pointsOf(collector.received);
    expect(points('gen_ai.client.inference.duration')).toMatchObject([
      { count: 2, attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'gcp.vertex_ai' } },
    ]);
    expect(points('http.server.request.duration')).toMatchObject([
      { count: 2, sum: 2.61, attributes: { 'http.route': '/v1/chat/completions', 'http.response.status_code': '200' } },
    ]);
    const [text] = points('gen_ai.client.inference.usage.output_tokens');
    const own = points('gatehouse_tokens_total').find(({ attributes }) => attributes['type'] === 'output');
    expect(text?.attributes['gen_ai.token.modality']).toBe('text');
    expect(own?.asDouble).toBeGreaterThan(0);
    expect(text?.asDouble).toBe(own?.asDouble);
    expect(points('gen_ai.client.operation.duration')).toEqual([]);
    expect(points('gatehouse_request_duration_seconds')).toMatchObject([{ count: 2 }]);
  });

  it('also uses the names of v1.41 with `semconv: both`', async () => {
    const collector = await opened(collect());
    const started = await start(
      { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
      { semconv: 'both' },
    );
    recordOne(started);
    await started.otel.flush();
    const points = pointsOf(collector.received);
    for (const name of [
      'gen_ai.client.inference.duration',
      'gen_ai.client.operation.duration',
      'gen_ai.server.request.duration',
      'gen_ai.server.time_to_first_token',
    ])
      expect(points(name), name).toMatchObject([{ count: 1 }]);
    expect(points('gen_ai.client.token.usage').map(({ attributes }) => attributes['gen_ai.token.type'])).toEqual([
      'input',
      'output',
    ]);
  });

  it('exports the lines of the log with their trace, and none about exports', async () => {
    const collector = await opened(collect());
    const started = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_METRICS_EXPORTER: 'none',
    });
    const { traceId, line } = recordOne(started);
    started.otel.writeLine?.(
      '{"level":"warn","time":"2026-11-20T00:00:00.000Z","component":"opentelemetry","msg":"an export failed"}\n',
    );
    await started.otel.flush();
    const body = collector.received.find(({ path }) => path === '/v1/logs')?.body ?? Buffer.from('{}');
    const { resourceLogs } = JSON.parse(body.toString('utf8')) as OtlpLogs;
    const records = resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords));
    expect(records).toMatchObject([
      { body: { stringValue: 'request completed' }, severityText: 'info', traceId, spanId: line['span_id'] },
    ]);
    expect(attributesOf(records[0]?.attributes)['route']).toBe('/v1/chat/completions');
  });

  it.each([
    ['b3', { b3: `${'1'.repeat(32)}-${'2'.repeat(16)}-1` }, '1'.repeat(32)],
    ['none', { traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` }, undefined],
  ])('reads the headers of OTEL_PROPAGATORS=%s and no others', async (propagators, headers, traceId) => {
    const collector = await opened(collect());
    const started = await start({
      ...ONLY_TRACES,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_PROPAGATORS: propagators,
    });
    recordOne(started, headers);
    await started.otel.flush();
    const spans = spansOf(collector.received[0]?.body ?? Buffer.from('{}'));
    expect(spans).toHaveLength(3);
    expect(spans.every((span) => (span.traceId === '1'.repeat(32)) === (traceId !== undefined))).toBe(true);
  });
});

const attributesOf = (attributes: readonly OtlpAttribute[] = []): Record<string, string | undefined> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue]));

/** The points of a metric, in the latest export. */
function pointsOf(received: readonly Received[]) {
  const body = received.findLast(({ path }) => path === '/v1/metrics')?.body ?? Buffer.from('{}');
  const { resourceMetrics } = JSON.parse(body.toString('utf8')) as OtlpMetrics;
  const metrics = resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
  return (wanted: string) =>
    metrics
      .filter(({ name }) => name === wanted)
      .flatMap(({ sum, histogram }) => (sum ?? histogram)?.dataPoints ?? [])
      .map((point) => ({ ...point, attributes: attributesOf(point.attributes) }));
}
