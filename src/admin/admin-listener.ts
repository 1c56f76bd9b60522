import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Logger } from 'pino';
import type { ServerSettings } from '../settings/compile/server-settings.ts';
import type { TlsIdentity } from '../settings/read/tls-files.ts';
import { failure, methodNotAllowed, notFound, type AdminAnswer } from './answer.ts';
import { AdminApi, answerOf } from './api/api.ts';
import { API } from './api/openapi.ts';
import { ApiProblem } from './api/problems.ts';
import { includesScope } from './api/roles.ts';
import type { ApiSources } from './api/sources.ts';
import { createExplainAnswers, EXPLAIN } from './explain.ts';
import { hostOf, isOfForeignPage, isOwnHost, refusalOf } from './own-host.ts';
import type { ExplainSource } from '../dry-run/explain/explain-service.ts';
import { ambiguityOf } from '../compose/listener/ambiguous-head.ts';
import { describeListener, healthOf } from '../compose/listener/root.ts';
import { createListener } from '../compose/listener/secure-server.ts';
import { CannotListen, listen, type Address } from '../compose/listener/listeners.ts';
import type { RecordQuery } from '../record/store.ts';
import type { Actor } from '../state/entities.ts';

/** The request records as plain JSON, from this process or from all workers. */
export interface RecordSource {
  find(id: string): object | undefined | Promise<object | undefined>;
  list(query: RecordQuery): readonly object[] | Promise<readonly object[]>;
}

interface AdminServerOptions extends ApiSources {
  readonly records: RecordSource;
  readonly explains: ExplainSource;
  readonly log: Pick<Logger, 'error' | 'warn'>;
  /** Read for each request: the token may change while the listener stays. */
  readonly settings: () => Pick<ServerSettings, 'admin' | 'limits'>;
  /** Undefined: plain HTTP. */
  readonly tls?: TlsIdentity | undefined;
}

const REQUESTS = '/admin/v1/requests';
/** Limits of a listener whose requests are all short. */
const MAX_HEADER_BYTES = 8 * 1024;
const HEADER_TIME_MS = 5000;
const SILENCE_MS = 30_000;
const MAX_CONNECTIONS = 100;

export interface AdminServer {
  readonly server: Server;
  /** Writes the bootstrap token, if there is no admin token. Never rejects. */
  readonly offerBootstrap: () => Promise<void>;
}

/**
 * The listener for operators. It calls no upstream, and replies only if the Host header names this listener: a browser directed here by
 * a foreign name (DNS rebinding) gets nothing.
 */
export function createAdminServer(options: AdminServerOptions): AdminServer {
  const api = new AdminApi({ ...options, admin: () => options.settings().admin });
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
  return { server, offerBootstrap: () => api.offerBootstrap() };
}

/**
 * Listens unless the listener would be open without a token. The settings checks report this with its place; the check
 * is repeated here because the listener exposes all requests. When it resolves, this start has written or
 * removed the file of the bootstrap token.
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

type Answers = (request: IncomingMessage) => Promise<AdminAnswer>;

async function respond(request: IncomingMessage, response: ServerResponse, answer: Answers): Promise<void> {
  const { status, body, headers } = await answer(request);
  // Discards the unread part of the body.
  request.resume();
  const isText = typeof body === 'string';
  const always = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
  const isHead = request.method === 'HEAD';
  if (body === undefined) return void response.writeHead(status, { ...always, ...headers }).end();
  if (typeof body === 'object' && Symbol.asyncIterator in body) {
    response.writeHead(status, { ...always, ...headers });
    if (isHead) return void response.end();
    // A client that leaves, or a store that fails, ends the file before its end: the connection is cut.
    return pipeline(Readable.from(body), response).catch(() => {});
  }
  const bytes = Buffer.from(isText ? body : `${JSON.stringify(body)}\n`);
  response.writeHead(status, {
    'content-type': `${isText ? 'text/plain' : 'application/json'}; charset=utf-8`,
    'content-length': bytes.length,
    ...always,
    ...headers,
  });
  response.end(isHead ? undefined : bytes);
}

function createAnswers({ records, explains, settings, log, tls }: AdminServerOptions, api: AdminApi): Answers {
  const isSecure = tls !== undefined;
  const explain = createExplainAnswers(explains, () => settings().limits);
  const answer: Answers = async (request) => {
    const [path = '/', query] = (request.url ?? '/').split('?', 2);
    const isOther = isAt(path, EXPLAIN) || isAt(path, REQUESTS);
    const foreign = refusalBeforeRouting(request, settings().admin, isSecure);
    if (foreign) return isOther ? answerToProblem(foreign) : answerOf(foreign);
    if (!isOther && path.startsWith(`${API}/`)) return api.answer(request, path.slice(API.length), query ?? '');
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (isRead && path === '/') return { status: 200, body: ROOT };
    if (isRead && path === '/health') return healthOf(true);
    const { actor, refused } = await actorOf(request, api);
    if (!actor) return refused;
    if (isAt(path, EXPLAIN)) {
      const read = (id: string): Promise<void> => api.auditRead(id, actor);
      return explain(request, path.slice(EXPLAIN.length + 1), read).catch(answerToProblem);
    }
    if (!isAt(path, REQUESTS)) return notFound('There is nothing at this path.');
    if (!isRead) return methodNotAllowed('GET, HEAD');
    return path === REQUESTS ? list(records, query) : one(records, path.slice(REQUESTS.length + 1));
  };
  return (request) =>
    answer(request).catch((err: unknown) => {
      // A client that disconnected during its request causes this error itself.
      if (!request.socket.destroyed) log.error({ err }, 'the admin listener could not answer');
      return failure(500, 'internal_error', 'The request failed; see the log for the reason.');
    });
}

const ROOT = describeListener(
  'The listener for operators. Send a token as `Authorization: Bearer`, where there is one.',
  {
    health: '/health',
    api: `${API}/openapi.json`,
    requests: REQUESTS,
  },
);

const isAt = (path: string, place: string): boolean => path === place || path.startsWith(`${place}/`);

/** Refuses a request whose head is ambiguous, names another host or comes from a foreign page, whatever its path. */
function refusalBeforeRouting(
  request: IncomingMessage,
  admin: ServerSettings['admin'],
  isSecure: boolean,
): ApiProblem | undefined {
  const ambiguity = ambiguityOf(request);
  if (ambiguity !== undefined)
    return new ApiProblem('invalid_header', `The request is not valid HTTP: ${ambiguity}.`, {
      headers: { connection: 'close' },
    });
  if (!isOwnHost(hostOf(request.headers.host), admin))
    return new ApiProblem('unknown_host', 'This Host is not one of `admin.host` and `admin.hosts`.');
  if (isOfForeignPage(request.headers, { ...admin, isSecure }))
    return new ApiProblem('foreign_page', 'A browser sent this for a page of another origin.');
  return undefined;
}

/** The caller of a request for records or explanations, or its refusal. Every role may read them. */
async function actorOf(request: IncomingMessage, api: AdminApi): Promise<Admitted> {
  try {
    const { only, scopes, actor } = await api.identify(request);
    if (only !== undefined) return { refused: failure(403, 'forbidden', 'The bootstrap token only creates a token.') };
    if (includesScope(scopes, 'requests', false)) return { actor };
    return { refused: failure(403, 'forbidden', 'The token has no scope `requests:read`.') };
  } catch (error) {
    return { refused: answerToProblem(error) };
  }
}

type Admitted =
  | { readonly actor: Actor; readonly refused?: undefined }
  | { readonly actor?: undefined; readonly refused: AdminAnswer };

function answerToProblem(error: unknown): AdminAnswer {
  if (!(error instanceof ApiProblem)) throw error;
  const { kind, code, message, headers } = error;
  return failure(kind.status, code, message, headers);
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
