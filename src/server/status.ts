import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Clock } from '../plugin/index.ts';
import type { Metrics } from '../telemetry/registry.ts';

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
  return createServer((request, response) => {
    answer(request, response, { ...options, startedAt }).catch(() => {
      // Only rendering can fail, and its message may quote a label: the client learns no more than the status.
      if (!response.headersSent) response.writeHead(500, { 'content-type': TEXT });
      response.end('the metrics could not be rendered\n');
    });
  });
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
