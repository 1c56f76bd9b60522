import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Clock } from '../../plugin/index.ts';
import { isLoopback } from '../settings/compile/networks.ts';
import type { Metrics } from '../record/metrics/registry.ts';
import { ambiguityOf } from '../http/listener/ambiguous-head.ts';
import { describeListener, hasBody, healthOf } from '../http/listener/root.ts';
import { hostOf, isOwnHost } from '../http/listener/own-host.ts';

export interface Readiness {
  readonly ready: boolean;
  /** For `/readyz?verbose`. Never an upstream: a provider that is down must not take the gateway out of service. */
  readonly reasons: readonly string[];
}

interface StatusServerOptions {
  readonly metrics: Pick<Metrics, 'scrape'>;
  readonly isReady: () => Readiness;
  /** The health of the targets, one line each, for `/readyz?verbose`. For people; readiness does not depend on it. */
  readonly targets?: () => readonly string[] | Promise<readonly string[]>;
  readonly clock: Clock;
  readonly host: string;
}

interface Page {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

const TEXT = 'text/plain; charset=utf-8';
const page = (status: number, text: string): Page => ({ status, contentType: TEXT, text: `${text}\n` });
const json = (status: number, body: object): Page => ({
  status,
  contentType: 'application/json',
  text: `${JSON.stringify(body)}\n`,
});

const PATHS: ReadonlySet<string> = new Set(['/', '/health', '/livez', '/readyz', '/metrics']);
const ROOT = describeListener('The listener for probes and scrapes.', {
  health: '/health',
  live: '/livez',
  ready: '/readyz',
  targets: '/readyz?verbose',
  metrics: '/metrics',
});
const compress = promisify(gzip);

/** Probes and scrapes: no secrets, and no key required. Keep it off the network of applications. */
export function createStatusServer(options: StatusServerOptions): Server {
  const startedAt = options.clock.now();
  const server: Server = createServer((request, response) => {
    const ambiguity = ambiguityOf(request);
    if (ambiguity !== undefined) return refuse(response, 400, `The request is not valid HTTP: ${ambiguity}.`);
    if (hasForeignHost(request, server, options.host)) return refuse(response, 421, MISDIRECTED);
    // A body is not read: a slow one holds no socket.
    if (hasBody(request)) response.shouldKeepAlive = false;
    answer(request, response, { ...options, startedAt }).catch(() => {
      // Only rendering can fail. Its message may quote a label, so the client gets only the status.
      if (!response.headersSent) response.writeHead(500, { 'content-type': TEXT });
      response.end('the metrics could not be rendered\n');
    });
  });
  return server;
}

/**
 * True for a foreign Host header on loopback. There, only programs of this machine are clients, but a foreign name (DNS
 * rebinding) can direct a local browser here, and its requests have that Host. On other addresses any name is accepted:
 * Prometheus and the kubelet call a pod by its address. A program without Host (HTTP/1.0) is not a browser.
 */
function hasForeignHost(request: IncomingMessage, server: Server, host: string): boolean {
  const bound = server.address();
  if (bound === null || typeof bound === 'string' || !isLoopback(bound.address)) return false;
  const name = request.headers.host;
  return name !== undefined && !isOwnHost(hostOf(name), { host, hosts: [] });
}

const MISDIRECTED =
  'Misdirected request: on loopback this listener accepts only loopback names and its own status.host in the Host header.';

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': TEXT, 'cache-control': 'no-store', connection: 'close' });
  response.end(`${message}\n`);
}

type Context = StatusServerOptions & { readonly startedAt: number };

async function answer(request: IncomingMessage, response: ServerResponse, context: Context): Promise<void> {
  const found = await route(request, context);
  const zipped = acceptsGzip(request.headers['accept-encoding']);
  const body = zipped ? await compress(found.text) : Buffer.from(found.text);
  response.writeHead(found.status, {
    'content-type': found.contentType,
    'content-length': body.length,
    'cache-control': 'no-store',
    vary: 'accept, accept-encoding',
    ...(zipped && { 'content-encoding': 'gzip' }),
    ...(found.status === 405 && { allow: 'GET, HEAD' }),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

async function route({ method, url = '/', headers }: IncomingMessage, context: Context): Promise<Page> {
  const [path = '/', query] = url.split('?', 2);
  const verbose = new URLSearchParams(query).has('verbose');
  if (!PATHS.has(path)) return page(404, 'not found');
  if (method !== 'GET' && method !== 'HEAD') return page(405, 'method not allowed');
  if (path === '/') return json(200, ROOT);
  if (path === '/health') {
    const { status, body } = healthOf(context.isReady().ready);
    return json(status, body);
  }
  if (path === '/livez') return page(200, 'ok');
  if (path === '/readyz') return readiness(context, verbose);
  const { contentType, text } = await context.metrics.scrape(headers.accept);
  return { status: 200, contentType, text };
}

async function readiness({ isReady, targets, clock, startedAt }: Context, verbose: boolean): Promise<Page> {
  const { ready, reasons } = isReady();
  const lines = [ready ? 'ok' : 'not ready'];
  if (verbose)
    lines.push(
      ...reasons.map((reason) => `- ${reason}`),
      `up for ${Math.floor((clock.now() - startedAt) / 1000)} s`,
      ...((await targets?.()) ?? []),
    );
  return page(ready ? 200 : 503, lines.join('\n'));
}

/** A coding with `q=0` is refused (RFC 9110, section 12.5.3). */
const acceptsGzip = (header: string | string[] | undefined): boolean =>
  [header ?? []]
    .flat()
    .join(',')
    .split(',')
    .some((coding) => /^\s*(?:gzip|x-gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(coding));
