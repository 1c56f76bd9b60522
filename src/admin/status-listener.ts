import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Clock } from '../plugin/index.ts';
import { isLoopback } from '../settings/compile/loopback.ts';
import type { Metrics } from '../record/metrics/registry.ts';
import { hostOf, isOwnHost } from './own-host.ts';

export interface Readiness {
  readonly ready: boolean;
  /** Why not, for `/readyz?verbose`. Never an upstream: a provider that is down must not take the gateway out of service. */
  readonly reasons: readonly string[];
}

export interface StatusServerOptions {
  readonly metrics: Pick<Metrics, 'scrape'>;
  readonly isReady: () => Readiness;
  /** How the targets of the gateway configs do, a line for each, for `/readyz?verbose`: to be read, never to be decided by. */
  readonly targets?: () => readonly string[] | Promise<readonly string[]>;
  readonly clock: Clock;
  /** Where the settings have it listen. */
  readonly host: string;
}

interface Page {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

const TEXT = 'text/plain; charset=utf-8';
const page = (status: number, text: string): Page => ({ status, contentType: TEXT, text: `${text}\n` });
const compress = promisify(gzip);

/** The listener of probes and scrapes. It has nothing secret and asks for no key: keep it off the applications' network. */
export function createStatusServer(options: StatusServerOptions): Server {
  const startedAt = options.clock.now();
  const server: Server = createServer((request, response) => {
    if (isForeign(request, server, options.host)) return misdirected(response);
    answer(request, response, { ...options, startedAt }).catch(() => {
      // Only rendering can fail, and its message may quote a label: the client learns no more than the status.
      if (!response.headersSent) response.writeHead(500, { 'content-type': TEXT });
      response.end('the metrics could not be rendered\n');
    });
  });
  return server;
}

/**
 * On loopback only programs of this machine are meant, and a browser here can be led here by a name of a stranger's (DNS rebinding): its
 * requests name that host. Elsewhere any name is right: Prometheus and the kubelet call a pod by its address. A program without Host
 * (HTTP/1.0) is no browser.
 */
function isForeign(request: IncomingMessage, server: Server, host: string): boolean {
  const bound = server.address();
  if (bound === null || typeof bound === 'string' || !isLoopback(bound.address)) return false;
  // RFC 9112, section 3.2: of two, none counts.
  const [name, second] = request.headersDistinct['host'] ?? [];
  return name !== undefined && (second !== undefined || !isOwnHost(hostOf(name), { host, hosts: [] }));
}

function misdirected(response: ServerResponse): void {
  response.writeHead(421, { 'content-type': TEXT, 'cache-control': 'no-store' });
  response.end(
    'Misdirected request: on loopback this listener accepts only loopback names and its own status.host in the Host header.\n',
  );
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
  const known = path === '/metrics' || path === '/livez' || path === '/readyz';
  if (!known) return page(404, 'not found');
  if (method !== 'GET' && method !== 'HEAD') return page(405, 'method not allowed');
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

/** RFC 9110, section 12.5.3: a coding with `q=0` is refused. */
function acceptsGzip(header: string | string[] | undefined): boolean {
  return [header ?? []]
    .flat()
    .join(',')
    .split(',')
    .some((coding) => /^\s*(?:gzip|x-gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(coding));
}
