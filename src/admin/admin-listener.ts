import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { Clock, Secret } from '../plugin/index.ts';
import { isLoopback } from '../settings/compile/networks.ts';
import type { ServerSettings } from '../settings/compile/server-settings.ts';
import type { TlsIdentity } from '../settings/read/tls-files.ts';
import { failure, methodNotAllowed, notFound, type AdminAnswer } from './answer.ts';
import { createExplainAnswers, EXPLAIN } from './explain.ts';
import { hostOf, isOwnHost, refusalOf } from './own-host.ts';
import type { ExplainSource } from '../dry-run/explain/explain-service.ts';
import { createListener } from '../compose/listener/secure-server.ts';
import { CannotListen, listen, type Address } from '../compose/listener/listeners.ts';
import type { RecordQuery } from '../record/store.ts';

/** The request records as plain JSON, from this process or from all workers. */
export interface RecordSource {
  find(id: string): object | undefined | Promise<object | undefined>;
  list(query: RecordQuery): readonly object[] | Promise<readonly object[]>;
}

interface AdminServerOptions {
  readonly records: RecordSource;
  readonly explains: ExplainSource;
  readonly log: Pick<Logger, 'error'>;
  /** Read for each request: the token may change while the listener stays. */
  readonly settings: () => Pick<ServerSettings, 'admin' | 'limits'>;
  /** Undefined: plain HTTP. */
  readonly tls?: TlsIdentity | undefined;
  readonly clock: Clock;
}

const REQUESTS = '/admin/v1/requests';
/** Limits of a listener whose requests are all short. */
const MAX_HEADER_BYTES = 8 * 1024;
const HEADER_TIME_MS = 5000;
const SILENCE_MS = 30_000;
const MAX_CONNECTIONS = 100;

/**
 * The listener for operators. It changes nothing, calls no upstream, and replies only if the Host header names this
 * listener: a browser directed here by a foreign name (DNS rebinding) gets nothing.
 */
export function createAdminServer(options: AdminServerOptions): Server {
  const answer = createAnswers(options);
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
  return server;
}

/**
 * Listens unless the listener would be open without a token. The settings checks report this with its place; the check
 * is repeated here because the listener exposes all requests.
 */
export function listenAdmin(server: Server, admin: ServerSettings['admin']): Promise<Address | undefined> {
  if (!admin.enabled) return Promise.resolve(undefined);
  const refusal = refusalOf(admin);
  return refusal === undefined ? listen(server, admin) : Promise.reject(new CannotListen(refusal));
}

type Answers = (request: IncomingMessage) => Promise<AdminAnswer>;

async function respond(request: IncomingMessage, response: ServerResponse, answer: Answers): Promise<void> {
  const { status, body, headers } = await answer(request);
  // Discards the unread part of the body.
  request.resume();
  const isText = typeof body === 'string';
  const bytes = Buffer.from(isText ? body : `${JSON.stringify(body)}\n`);
  response.writeHead(status, {
    'content-type': `${isText ? 'text/plain' : 'application/json'}; charset=utf-8`,
    'content-length': bytes.length,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
  });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

function createAnswers({ records, explains, settings, log }: AdminServerOptions): Answers {
  const explain = createExplainAnswers(explains, () => settings().limits);
  const answer: Answers = async (request) => {
    const refused = refusal(request, settings().admin);
    if (refused) return refused;
    const [path = '/', query] = (request.url ?? '/').split('?', 2);
    if (isAt(path, EXPLAIN)) return explain(request, path.slice(EXPLAIN.length + 1));
    if (!isAt(path, REQUESTS)) return notFound('There is nothing at this path.');
    if (request.method !== 'GET' && request.method !== 'HEAD') return methodNotAllowed('GET, HEAD');
    return path === REQUESTS ? list(records, query) : one(records, path.slice(REQUESTS.length + 1));
  };
  return (request) =>
    answer(request).catch((err: unknown) => {
      // A client that disconnected during its request causes this error itself.
      if (!request.socket.destroyed) log.error({ err }, 'the admin listener could not answer');
      return failure(500, 'internal_error', 'The request failed; see the log for the reason.');
    });
}

const isAt = (path: string, place: string): boolean => path === place || path.startsWith(`${place}/`);

/** The refusal of a request whose Host or token is wrong, whatever its path. */
function refusal(request: IncomingMessage, admin: ServerSettings['admin']): AdminAnswer | undefined {
  // With two Host headers it is unknown which one a proxy has checked (RFC 9112, section 3.2).
  const [host, second] = request.headersDistinct['host'] ?? [];
  if (second !== undefined || !isOwnHost(hostOf(host), admin))
    return failure(421, 'unknown_host', 'This Host is not one of `admin.host` and `admin.hosts`.');
  if (isAllowed(request, admin.token)) return undefined;
  return failure(401, 'unauthorized', 'Send `admin.token` as `Authorization: Bearer`.', {
    'www-authenticate': 'Bearer',
  });
}

async function list(records: RecordSource, text: string | undefined): Promise<AdminAnswer> {
  const { query, problem } = readRecordQuery(text ?? '');
  if (!query) return failure(400, 'invalid_query', problem);
  return { status: 200, body: { requests: await records.list(query) } };
}

async function one(records: RecordSource, id: string): Promise<AdminAnswer> {
  const record = await records.find(id);
  if (!record)
    return notFound(
      'There is no record of a request with this id: it never arrived, or `admin.records` later requests have replaced it.',
    );
  return { status: 200, body: record };
}

/** Without a token only connections to a loopback address are allowed, whatever address the settings resolved to. */
function isAllowed({ socket, headers }: IncomingMessage, token: Secret | undefined): boolean {
  if (!token) return isLoopback(socket.localAddress ?? '');
  const [, sent] = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? [];
  return sent !== undefined && timingSafeEqual(digest(sent), digest(token.reveal()));
}

/** Hashes to a fixed length, which `timingSafeEqual` needs. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 1000;
const STATES = ['complete', 'failed', 'aborted', 'running'] as const;
const NAMES = ['limit', 'state', 'key', 'config'];

type QueryRead =
  | { readonly query: RecordQuery; readonly problem?: never }
  | { readonly query?: never; readonly problem: string };

/** Reads the query. Unknown parameters are refused: with an ignored filter the reply would answer another question. */
function readRecordQuery(text: string): QueryRead {
  const params = new URLSearchParams(text);
  const names = [...params.keys()];
  const unknown = names.find((name, index) => !NAMES.includes(name) || names.indexOf(name) < index);
  if (unknown !== undefined)
    return { problem: `\`${unknown.slice(0, 100)}\`: the query may have ${NAMES.join(', ')}, each once.` };
  const limit = params.get('limit') ?? String(DEFAULT_LIMIT);
  if (!/^\d{1,4}$/.test(limit) || Number(limit) < 1 || Number(limit) > MAX_LIMIT)
    return { problem: `\`limit\` must be a number from 1 to ${MAX_LIMIT}.` };
  const [key, config] = [params.get('key'), params.get('config')];
  const wanted = params.get('state');
  const state = STATES.find((one) => one === wanted);
  if (wanted !== null && !state) return { problem: `\`state\` must be one of ${STATES.join(', ')}.` };
  return {
    query: {
      limit: Number(limit),
      ...(state && { state }),
      ...(key !== null && { key }),
      ...(config !== null && { config }),
    },
  };
}
