import { createServer, type IncomingHttpHeaders } from 'node:http';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createAccessLog } from '../../src/record/log/access-log.ts';
import { createStillClock, endOf, streamedExchange } from '../../src/record/exchange.testkit.ts';
import { createLogger } from '../../src/record/log/logger.ts';
import { EndedRequests } from '../../src/record/ended-requests.ts';
import { createRecorder } from '../../src/record/recorder.ts';
import { createMetrics } from '../../src/record/metrics/registry.ts';
import type { Tracing } from '../../src/record/traces/open-tracing.ts';
import { startTracing } from '../../src/record/traces/tracing.ts';
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
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  return { received, ...(await listen(server)) };
}

const OTEL = /^OTEL_/;
const before = Object.entries(process.env).filter(([name]) => OTEL.test(name));
const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
  for (const name of Object.keys(process.env)) if (OTEL.test(name)) delete process.env[name];
  Object.assign(process.env, Object.fromEntries(before));
});

/** The OTLP packages read their own variables from `process.env`. */
async function start(
  env: Record<string, string>,
  yaml?: Parameters<typeof startTracing>[0]['yaml'],
  shutdownMs?: number,
): Promise<{ tracing: Tracing; lines: string[] }> {
  Object.assign(process.env, env);
  const lines: string[] = [];
  const log = createLogger({ level: 'info', destination: { write: (line) => void lines.push(line) } });
  const tracing = await startTracing({
    env: process.env,
    yaml,
    version: '0.1.0',
    log,
    ...(shutdownMs && { shutdownMs }),
  });
  if (!tracing) throw new Error('tracing did not start');
  open.push(() => tracing.shutdown());
  return { tracing, lines };
}

function recordOne(
  tracing: Tracing,
  headers: Record<string, string> = {},
): { traceId: string; line: Record<string, unknown> } {
  const clock = createStillClock();
  let line = '';
  const destination = { write: (text: string) => void (line = text) };
  const log = createLogger({ level: 'info', clock, destination });
  const ended = new EndedRequests(clock);
  const metrics = createMetrics({ clock, build: { version: '0.1.0', revision: '' }, routes: [], process: false });
  const recorder = createRecorder({
    clock,
    metrics,
    models: { answered: (model) => model },
    log,
    ended,
    accessLog: createAccessLog({ log, lines: destination, mode: 'all' }),
    openSpan: tracing.openSpan,
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
    const collector = await collect();
    open.push(() => collector.close());
    const { tracing } = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=acme',
      OTEL_SERVICE_NAME: 'edge-gateway',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    });
    const { traceId, line } = recordOne(tracing);
    await tracing.flush();
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
    const collector = await collect();
    open.push(() => collector.close());
    const { tracing } = await start(
      {},
      { endpoint: `${collector.url}/custom`, protocol: 'http/json', service_name: 'from-yaml' },
    );
    const { traceId } = recordOne(tracing, { traceparent: '00-11111111111111111111111111111111-2222222222222222-01' });
    await tracing.flush();
    expect(traceId).toBe('1'.repeat(32));
    expect(collector.received[0]?.path).toBe('/custom');
    const body = collector.received[0]?.body ?? Buffer.alloc(0);
    expect(spansOf(body).find(({ kind }) => kind === 2)?.parentSpanId).toBe('2'.repeat(16));
    expect(body.toString()).toContain('from-yaml');
  });

  it('over http/protobuf is what is sent unless something else is asked for', async () => {
    const collector = await collect();
    open.push(() => collector.close());
    const { tracing } = await start({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces` });
    recordOne(tracing);
    await tracing.shutdown();
    expect(collector.received[0]?.headers['content-type']).toBe('application/x-protobuf');
    expect(collector.received[0]?.body.includes('chat gemini-2.5-pro')).toBe(true);
  });

  it('obeys the sampler', async () => {
    const collector = await collect();
    open.push(() => collector.close());
    const { tracing } = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER: 'always_off' });
    const { traceId } = recordOne(tracing);
    await tracing.shutdown();
    expect(traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(collector.received).toEqual([]);
  });

  it.each([
    ['when flushed', 60_000, 'traces could not be exported'],
    ['in the background', 1, '"component":"opentelemetry"'],
  ])('that fails %s is logged and harms no request', async (when, delay, message) => {
    const collector = await collect();
    await collector.close();
    const { tracing, lines } = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_TIMEOUT: '500',
      OTEL_BSP_SCHEDULE_DELAY: String(delay),
    });
    expect(recordOne(tracing).line).toMatchObject({ status: 200 });
    if (when === 'when flushed') await tracing.flush();
    await vi.waitFor(() => expect(lines.join('')).toContain(message), { timeout: 5000 });
    expect(lines.join('')).toContain('ECONNREFUSED');
  });

  it('waits for a collector that does not answer no longer than its limit at the end', async () => {
    const silent = await listen(createServer(() => {}));
    open.push(() => silent.close());
    const { tracing, lines } = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: silent.url }, undefined, 100);
    recordOne(tracing);
    await tracing.shutdown();
    expect(lines.join('')).toContain('the collector did not take them within 100 ms');
  });

  it('warns of resource attributes that cannot be read', async () => {
    const { lines } = await start({ OTEL_TRACES_EXPORTER: 'otlp', OTEL_RESOURCE_ATTRIBUTES: 'no pairs here' });
    expect(lines.join('')).toContain('OTEL_RESOURCE_ATTRIBUTES cannot be read');
  });
});
