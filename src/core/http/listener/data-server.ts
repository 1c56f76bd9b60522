import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import Router from '@koa/router';
import Koa from 'koa';
import { openaiChat } from '../../../formats/openai-chat/index.ts';
import { type Clock, GatewayError } from '../../../plugin/index.ts';
import { DirectRequest, errorReply, NO_TURNS, type Turns } from '../../kernel/index.ts';
import type { ServerSettings } from '../../settings/compile/server-settings.ts';
import type { InFlight } from '../gateway/admission/in-flight.ts';
import { bindReplies } from '../gateway/koa-reply.ts';
import type { Incoming, Routed } from '../gateway/request-scope.ts';
import { latestReply, Pipelines, type Serve } from './pipelines.ts';
import type { createRequestPath } from '../gateway/request-path.ts';
import { refusalOfHead } from './ambiguous-head.ts';
import { fixedRoute, normaliseTarget, refusedAt, routes, unserved } from './request-target.ts';
import { answerRoot } from './root.ts';
import type { Duplex } from 'node:stream';
import type { Format } from '../../../formats/format.ts';
import type { TlsIdentity } from '../../settings/read/tls-files.ts';
import type { HandshakeFailure } from './handshakes.ts';
import { createListener, type SecureSetup } from './secure-server.ts';
import { uuidv7 } from '../../kernel/ids.ts';

/** Longer than load balancers keep an idle connection (AWS ALB: 60 s): the side that sends requests closes first. */
const KEEP_ALIVE_MS = 75_000;

/** How often node:http checks for requests that arrive too slowly. */
const SLOW_CHECK_MS = 1000;

/** Connections of the data listener that leave HTTP, such as WebSockets. An add-on serves them. */
export interface Upgrades {
  /** True: the connection of this request is handed over, if the request path agrees. All others are ordinary requests. */
  opens(req: IncomingMessage): boolean;
  serve(server: Server, tools: UpgradeTools): void;
  /** Closes each connection once its running turn has ended. */
  drain(): void;
  terminate(): void;
}

export interface UpgradeTools {
  readonly handle: ReturnType<typeof createRequestPath>;
  readonly koa: (req: IncomingMessage, res: ServerResponse) => Koa.Context;
  readonly clock: Clock;
  readonly turns: Turns;
  readonly settings: () => ServerSettings;
}

interface DataServerSetup {
  readonly clock: Clock;
  readonly inFlight: InFlight;
  /** Undefined: all connections stay HTTP. */
  readonly upgrades?: Upgrades | undefined;
  /** Default: large messages of upgraded connections do not wait. */
  readonly turns?: Turns | undefined;
  readonly current: () => ServerSettings;
  readonly tls?: TlsIdentity | undefined;
  readonly onHandshakeFailed?: ((failure: HandshakeFailure) => void) | undefined;
}

/** The listener for applications. Routes each operation onto the request path. */
export function createDataServer(
  handle: ReturnType<typeof createRequestPath>,
  settings: ServerSettings,
  setup: DataServerSetup,
): { readonly server: Server; readonly pipelines: Pipelines } {
  const { clock, inFlight, upgrades, turns = NO_TURNS, current } = setup;
  const app = new Koa();
  bindReplies(app);
  const router = new Router();
  for (const route of routes())
    router.register(route.path, [route.method.toLowerCase()], (ctx) => handle(ofKoa(ctx), route.read(ctx)), {
      pathAsRegExp: true,
    });
  app.use(router.routes());
  app.use(answerRoot(() => !inFlight.draining)).use((ctx) => handle(ofKoa(ctx), unserved(ctx)));
  // Client disconnects are not errors, and failures are logged where they occur, with their request id.
  app.silent = true;
  const pipelines = new Pipelines(serveBy(app, handle), () => inFlight.pipelined);
  const options = {
    IncomingMessage: DirectRequest,
    maxHeaderSize: settings.limits.header,
    connectionsCheckingInterval: SLOW_CHECK_MS,
    shouldUpgradeCallback: (req: IncomingMessage) => upgrades?.opens(req) ?? false,
  };
  const server = createListener(options, secureBy(setup), (req, res) => pipelines.take(req, res));
  const koa: UpgradeTools['koa'] = (req, res) => app.createContext(req, res);
  upgrades?.serve(server, { handle, koa, clock, turns, settings: current });
  answerRefusals(server, {
    format: openaiChat,
    clock,
    headerLimit: settings.limits.header,
    interrupt: (res, refused) => inFlight.interrupt(res, refused),
  });
  // No go-ahead here: the body plugin sends it once the request is admitted.
  server.on('checkContinue', (req, res) => void server.emit('request', req, res));
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  applyLimits(server, settings);
  // No socket timeout, which would cut long streams: the request path has its own timeouts.
  server.timeout = 0;
  // No header count limit, beyond which Node drops headers silently: `limits.header` bounds them.
  server.maxHeadersCount = 0;
  return { server, pipelines };
}

/** Routes a request: those of fixed paths at once, all others through Koa. Refuses an ambiguous head whatever the path is. */
function serveBy(app: Koa, handle: ReturnType<typeof createRequestPath>): Serve {
  const answer = app.callback();
  const run = (req: IncomingMessage, res: ServerResponse, routed: Routed): void => {
    const koa = (): Koa.Context => {
      // Koa's default: no middleware has replied.
      res.statusCode = 404;
      return app.createContext(req, res);
    };
    void handle({ req, res, koa }, routed);
  };
  return (req, res) => {
    const fixed = fixedRoute(req);
    if (!fixed) normaliseTarget(req);
    const head = { path: req.url ?? '', headers: req.headers };
    const refused = refusalOfHead(req);
    if (refused) {
      res.shouldKeepAlive = false;
      return run(req, res, refusedAt(head, refused));
    }
    const route = fixed ?? fixedRoute(req);
    // The middleware of Koa and of its router would only find the same route (8 µs per request, measured).
    if (route) run(req, res, route.read(head));
    else void answer(req, res);
  };
}

/** Not Koa responds: its stream bodies cost 170 µs and two error events per broken stream (measured). */
function ofKoa(ctx: Koa.Context): Incoming {
  ctx.respond = false;
  return { req: ctx.req, res: ctx.res, koa: () => ctx };
}

/** A client that does not finish its handshake costs what one costs that does not send its headers. */
const secureBy = ({ tls, clock, current, onHandshakeFailed }: DataServerSetup): SecureSetup => ({
  tls,
  clock,
  limits() {
    const { headerMs, inFlight } = current().limits;
    return { ms: headerMs, most: inFlight };
  },
  onFailed: onHandshakeFailed,
});

/** Runs at the start and at each reload: node:http reads these fields when it uses them. */
export function applyLimits(server: Server, { limits }: Pick<ServerSettings, 'limits'>): void {
  server.requestTimeout = limits.bodyMs;
  server.headersTimeout = Math.min(limits.headerMs, limits.bodyMs);
}

/** How long a refused client may take to read its error reply. */
const LINGER_MS = 5000;

interface RefusalSetup {
  readonly format: Format;
  readonly clock: Clock;
  readonly headerLimit: number;
  /** Lets the request's own chain refuse it, if the chain runs and no reply has begun. False: it did not. */
  readonly interrupt: (res: ServerResponse, refused: GatewayError) => boolean;
}

/** For requests that node:http rejects before any code here runs (nodejs.org/api/http.html#event-clienterror). */
function answerRefusals(server: Server, setup: RefusalSetup): void {
  /** Connections whose refusal waits for earlier replies. Node emits an error for every further read. */
  const ending = new WeakSet<Duplex>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (ending.has(socket)) return;
    if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
    const refused = refusalOf(error, setup.headerLimit);
    const reply = latestReply(socket);
    if (!reply || reply.writableFinished) return refuse(socket, refused, setup);
    if (!reply.req.complete) return refuseBody(reply, refused, { socket, setup });
    // The head of the next request waits until the connection is read again.
    if (refused.code === 'request_timeout' && socket.isPaused()) return;
    // Replies leave in the order of their requests (RFC 9112, section 9.3.2).
    ending.add(socket);
    reply.once('close', () => refuse(socket, refused, setup));
  });
}

/** If a reply has begun, or another one must leave first, there is no place for an error reply. */
function refuseBody(
  reply: ServerResponse,
  refused: GatewayError,
  { socket, setup }: { readonly socket: Duplex; readonly setup: RefusalSetup },
): void {
  const isNext = reply.socket !== null;
  if (reply.headersSent) return void socket.destroy();
  // For a stalled body the chain refuses: the request has an id, a format and a record.
  if ((refused.code === 'request_timeout' || !isNext) && setup.interrupt(reply, refused)) return;
  if (isNext) refuse(socket, refused, setup);
  else socket.destroy();
}

function refuse(socket: Duplex, refused: GatewayError, { format, clock }: RefusalSetup): void {
  if (!socket.writable) return void socket.destroy();
  const { status, headers, body } = errorReply(refused, format, uuidv7(clock.wall()));
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const text = Buffer.isBuffer(body) ? body.toString() : '';
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}connection: close\r\n\r\n${text}`);
  // An immediate close would reset the connection and lose the reply (RFC 9112, section 9.6).
  const stop = clock.after(LINGER_MS, () => socket.destroy());
  socket.once('close', stop).resume();
}

function refusalOf({ code = '', message }: NodeJS.ErrnoException, headerLimit: number): GatewayError {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new GatewayError('headers_too_large', `The request headers exceed ${headerLimit} bytes (limits.header).`);
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new GatewayError('request_timeout', 'The request did not arrive completely in time.');
  return new GatewayError(
    'malformed_request',
    `The request is not valid HTTP: ${message.replace(/^Parse Error: /, '')}.`,
  );
}
