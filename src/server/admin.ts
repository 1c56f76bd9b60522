import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Secret } from '../plugin/index.ts';
import { isLoopback } from '../settings/loopback.ts';
import type { ServerSettings } from '../settings/server-settings.ts';
import type { RecordQuery } from '../telemetry/record-store.ts';
import { hostOf, isOwnHost, refusalOf } from './admin-host.ts';
import { readRecordQuery } from './admin-query.ts';
import { CannotListen, listen, type Address } from './listeners.ts';

/** What became of requests, as plain JSON; of several processes, each asked. */
export interface RecordSource {
  find(id: string): object | undefined | Promise<object | undefined>;
  list(query: RecordQuery): readonly object[] | Promise<readonly object[]>;
}

export interface AdminServerOptions {
  readonly records: RecordSource;
  /** Read at each request: a token may change while the listener stays. */
  readonly settings: () => ServerSettings['admin'];
}

interface Answer {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

const REQUESTS = '/admin/v1/requests';
/** Nothing that is asked here is long. */
const MAX_HEADER_BYTES = 8 * 1024;
const HEADER_TIME_MS = 5000;
const SILENCE_MS = 30_000;
const MAX_CONNECTIONS = 100;

/**
 * The listener for operators. It reads and changes nothing, makes no call anywhere, and answers only those who name it by a host
 * of its own: a browser led here by somebody else's name (DNS rebinding) learns nothing.
 */
export function createAdminServer(options: AdminServerOptions): Server {
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADER_TIME_MS,
      requestTimeout: HEADER_TIME_MS,
      connectionsCheckingInterval: HEADER_TIME_MS / 5,
    },
    (request, response) => void respond(request, response, options),
  );
  server.timeout = SILENCE_MS;
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

/** The checks of the settings say the same, at its place; what tells of all requests must not hang on them alone. */
export function listenAdmin(server: Server, admin: ServerSettings['admin']): Promise<Address | undefined> {
  if (!admin.enabled) return Promise.resolve(undefined);
  const refusal = refusalOf(admin);
  return refusal === undefined ? listen(server, admin) : Promise.reject(new CannotListen(refusal));
}

async function respond(request: IncomingMessage, response: ServerResponse, options: AdminServerOptions): Promise<void> {
  // Bodies are not wanted, and are not read into memory.
  request.resume();
  const { status, body, headers } = await answer(request, options).catch(() =>
    failure(500, 'internal_error', 'The record could not be read.'),
  );
  const bytes = Buffer.from(`${JSON.stringify(body)}\n`);
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': bytes.length,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
  });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

const failure = (status: number, code: string, message: string, headers?: Answer['headers']): Answer => ({
  status,
  body: { error: { code, message } },
  ...(headers && { headers }),
});

async function answer(request: IncomingMessage, { records, settings }: AdminServerOptions): Promise<Answer> {
  const admin = settings();
  // RFC 9112, section 3.2: of two nobody can say which one counts, and something in between may have looked at the other.
  const [host, second] = request.headersDistinct['host'] ?? [];
  if (second !== undefined || !isOwnHost(hostOf(host), admin))
    return failure(421, 'unknown_host', 'This Host is not one of `admin.host` and `admin.hosts`.');
  if (!isAllowed(request, admin.token))
    return failure(401, 'unauthorized', 'Send `admin.token` as `Authorization: Bearer`.', {
      'www-authenticate': 'Bearer',
    });
  const [path = '/', query] = (request.url ?? '/').split('?', 2);
  if (path !== REQUESTS && !path.startsWith(`${REQUESTS}/`)) return notFound(`There is nothing at this path.`);
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return failure(405, 'method_not_allowed', 'This listener only tells: GET and HEAD.', { allow: 'GET, HEAD' });
  return path === REQUESTS ? list(records, query) : one(records, path.slice(REQUESTS.length + 1));
}

const notFound = (message: string): Answer => failure(404, 'not_found', message);

async function list(records: RecordSource, text: string | undefined): Promise<Answer> {
  const { query, problem } = readRecordQuery(text ?? '');
  if (!query) return failure(400, 'invalid_query', problem);
  return { status: 200, body: { requests: await records.list(query) } };
}

async function one(records: RecordSource, id: string): Promise<Answer> {
  const record = await records.find(id);
  if (!record)
    return notFound('No request with this id is remembered: never seen, or `admin.records` others came after.');
  return { status: 200, body: record };
}

/** Without a token only who is on this machine is asked nothing, whatever address the settings led to. */
function isAllowed({ socket, headers }: IncomingMessage, token: Secret | undefined): boolean {
  if (!token) return isLoopback(socket.localAddress ?? '');
  const [, sent] = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? [];
  return sent !== undefined && timingSafeEqual(digest(sent), digest(token.reveal()));
}

/** Of one length whatever was sent. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
