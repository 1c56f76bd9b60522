import type { IncomingMessage, Server, ServerResponse, IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { pipeline } from 'node:stream/promises';
import type { ServerSettings } from '../../core/settings/compile/server-settings.ts';
import type { AdminAnswer } from './api/answer.ts';
import { AdminApi, answerOf } from './admin-api.ts';
import { API } from './api/openapi.ts';
import { ApiProblem } from './api/problems.ts';
import { acceptsGzip, answerPage, pagePath } from './page.ts';
import type { AdminListener, AdminOptions } from '../../core/process/admin-port.ts';
import { hostOf, isOwnHost } from '../../core/http/listener/own-host.ts';
import { ambiguityOf } from '../../core/http/listener/ambiguous-head.ts';
import { describeListener, healthOf } from '../../core/http/listener/root.ts';
import { createListener } from '../../core/http/listener/secure-server.ts';
import { CannotListen, listen, type Address } from '../../core/http/listener/listeners.ts';
import { isLoopback } from '../../core/settings/compile/networks.ts';

const MAX_HEADER_BYTES = 8 * 1024;
const HEADER_TIME_MS = 5000;
const SILENCE_MS = 30_000;
const MAX_CONNECTIONS = 100;

interface AdminServer {
  readonly server: Server;
  /** Writes the bootstrap token, if there is no admin token, now or once the store answers. Never rejects. */
  readonly offerBootstrap: () => Promise<void>;
}

/** The operators' listener. A foreign Host header (DNS rebinding through a local browser) gets no reply. */
export function createAdminServer(options: AdminOptions): AdminListener {
  const api = new AdminApi(options);
  const answer = createAnswers(options, api);
  const { tls, clock } = options;
  const server = createListener(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADER_TIME_MS,
      requestTimeout: HEADER_TIME_MS,
      connectionsCheckingInterval: HEADER_TIME_MS / 5,
    },
    { tls, clock, limits: () => ({ ms: HEADER_TIME_MS, most: MAX_CONNECTIONS }) },
    (request, response) => void respond(request, response, answer),
  );
  server.timeout = SILENCE_MS;
  server.maxConnections = MAX_CONNECTIONS;
  return {
    server,
    listen: (admin) => listenAdmin({ server, offerBootstrap: () => api.offerBootstrap(() => server.listening) }, admin),
  };
}

/**
 * Listens unless it would be open without a token: the settings checks report that, and this guard stays, because the
 * listener exposes all requests. Resolves once the bootstrap token is written or removed, or the store does not answer.
 */
export async function listenAdmin(
  { server, offerBootstrap }: AdminServer,
  admin: ServerSettings['admin'],
): Promise<Address | undefined> {
  if (!admin.enabled) return undefined;
  const refusal = refusalOf(admin);
  if (refusal !== undefined) throw new CannotListen(refusal);
  const address = await listen(server, admin);
  await offerBootstrap();
  return address;
}

/** A thousand lines are 380 KB, and 30 KB compressed. */
const MIN_GZIP_BYTES = 4096;
const compress = promisify(gzip);

type Answers = (request: IncomingMessage) => Promise<AdminAnswer>;

async function respond(request: IncomingMessage, response: ServerResponse, answer: Answers): Promise<void> {
  const { status, body, headers } = await answer(request);
  request.resume();
  const isText = typeof body === 'string';
  const always = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' };
  const isHead = request.method === 'HEAD';
  if (body === undefined) return void response.writeHead(status, { ...always, ...headers }).end();
  if (typeof body === 'object' && Symbol.asyncIterator in body) {
    response.writeHead(status, { ...always, ...headers });
    if (isHead) return void response.end();
    // A client that leaves, or a store that fails, ends the file before its end: the connection is cut.
    return pipeline(Readable.from(body), response).catch(() => {});
  }
  const whole = body instanceof Uint8Array ? body : Buffer.from(isText ? body : `${JSON.stringify(body)}\n`);
  const isSmaller = !(body instanceof Uint8Array) && whole.length > MIN_GZIP_BYTES && acceptsGzip(request);
  const bytes = isSmaller ? await compress(whole) : whole;
  response.writeHead(status, {
    'content-type': `${isText ? 'text/plain' : 'application/json'}; charset=utf-8`,
    'content-length': bytes.length,
    ...(isSmaller && { 'content-encoding': 'gzip', vary: 'accept-encoding' }),
    ...always,
    ...headers,
  });
  response.end(isHead ? undefined : bytes);
}

function createAnswers({ settings, log, tls, console }: AdminOptions, api: AdminApi): Answers {
  const isSecure = tls !== undefined;
  const answer: Answers = async (request) => {
    const [path = '/', query = ''] = (request.url ?? '/').split('?', 2);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const page = isRead && console ? pagePath(path, request) : undefined;
    const refused = refusalBeforeRouting(request, { admin: settings().admin, isSecure, isPage: page !== undefined });
    if (refused) return answerOf(refused);
    if (page !== undefined) {
      const found = await answerPage(page, request, console!);
      if (found) return found;
    }
    if (isRead && path === '/') return { status: 200, body: ROOT };
    if (isRead && path === '/health') return healthOf(true);
    return api.answer(request, path.startsWith(`${API}/`) ? path.slice(API.length) : undefined, query);
  };
  return (request) =>
    answer(request).catch((err: unknown) => {
      // A client that disconnected during its request causes this error itself.
      if (!request.socket.destroyed) log.error({ err }, 'the admin listener could not answer');
      return answerOf(new ApiProblem('internal_error', 'The request failed; see the log for the reason.'));
    });
}

const ROOT = describeListener(
  'The listener for operators. Send a token as `Authorization: Bearer`, where there is one.',
  {
    health: '/health',
    api: `${API}/openapi.json`,
    requests: `${API}/requests`,
  },
);

/** Refuses a request whose head is ambiguous, names another host or comes from a foreign page, whatever its path. */
function refusalBeforeRouting(
  request: IncomingMessage,
  { admin, isSecure, isPage }: { admin: ServerSettings['admin']; isSecure: boolean; isPage: boolean },
): ApiProblem | undefined {
  const ambiguity = ambiguityOf(request);
  if (ambiguity !== undefined)
    return new ApiProblem('invalid_header', `The request is not valid HTTP: ${ambiguity}.`, {
      headers: { connection: 'close' },
    });
  if (!isOwnHost(hostOf(request.headers.host), admin))
    return new ApiProblem('unknown_host', 'This Host is not one of `admin.host` and `admin.hosts`.');
  // A link of another page may lead to the console: its files are the same for everyone.
  if (!isPage && isOfForeignPage(request.headers, { ...admin, isSecure }))
    return new ApiProblem('foreign_page', 'A browser sent this for a page of another origin.');
  return undefined;
}

/**
 * True for a request that a page of another origin (scheme, host and port) made a browser send. It reads no answer, but
 * may cost time and a row in the audit. Programs send neither header (https://www.w3.org/TR/fetch-metadata/, RFC 6454,
 * section 7). The scheme of a name of `admin.hosts` may be that of a proxy.
 */
function isOfForeignPage(
  { 'sec-fetch-site': site, origin, host = '' }: IncomingHttpHeaders,
  { hosts, isSecure }: Pick<ServerSettings['admin'], 'hosts'> & { readonly isSecure: boolean },
): boolean {
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  if (origin === undefined) return false;
  const isNamed = hosts.some((own) => own.toLowerCase() === hostOf(host));
  const schemes = isNamed ? ['http', 'https'] : [isSecure ? 'https' : 'http'];
  return !schemes.some((scheme) => URL.parse(`${scheme}://${host}`)?.origin === origin);
}

/** The reason why the admin listener does not start; undefined if it may. */
function refusalOf({ host, token }: Pick<ServerSettings['admin'], 'host' | 'token'>): string | undefined {
  if (token || isLoopback(host)) return undefined;
  return `the admin listener needs \`admin.token\` to listen on ${host}, which is not a loopback address`;
}
