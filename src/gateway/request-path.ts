import type { ServerResponse } from 'node:http';
import type Koa from 'koa';
import type { Logger } from 'pino';
import { noReply } from '../chain/unanswered.ts';
import type { Format } from '../formats/format.ts';
import { blamedPlugin } from '../plugin/blame.ts';
import {
  lossesOf,
  errorReply,
  GatewayError,
  retriesOf,
  toGatewayError,
  type Clock,
  type GatewayContext,
  type Reply,
  type ReplyEnd,
} from '../plugin/index.ts';
import { HttpExchange } from './exchange.ts';
import type { ResponseHeaderNames } from './header-names.ts';
import type { InFlight } from './admission/in-flight.ts';
import { answerByStatus } from './koa-reply.ts';
import { lossHeader } from './loss-header.ts';
import type { Lease, PathSettings } from './path-settings.ts';
import type { ReportPluginFailure } from './plugin-faults.ts';
import { writeReply } from './reply-writer.ts';
import { RequestDeadlines } from './request-deadlines.ts';
import type { Routed } from './routed.ts';

export interface RequestPathSetup {
  /** The settings in force; a request keeps those it began with. */
  readonly live: { take(): Lease };
  readonly inFlight: InFlight;
  readonly clock: Clock;
  readonly log: Logger;
  readonly pluginFault: ReportPluginFailure;
  /** Ids of requests, where tests want the same ones again. */
  readonly newId?: () => string | undefined;
}

/**
 * The whole path of a request, in the order it happens:
 *
 *   in              the settings in force, and a place among the requests under way, or the 503 it is refused with (InFlight)
 *   entry chain     telemetry → errors → auth → models → body → config (server.yaml, chains.entry)
 *                   behind `auth`: the caller's share of the places, or a 503 (caller-share.ts)
 *     request chain   metadata → route                                 (run by `config`; the gateway config's `plugins`)
 *       attempt chain   override → cache → transform → retry → send    (run by `route`, once for each target it tries)
 *   out             the reply, to its last byte (writeReply); then both are given back (settle)
 *
 * What comes back up from the chains has not left yet. `exchange.deadline`, the server's until `config` has said otherwise, bounds
 * all of it: attempts and the writer by timers of their own, anything else by RequestDeadlines. A client that leaves and a gateway that stops cancel the exchange, or end the writer.
 */
export function createRequestPath({ live, inFlight, clock, log, newId, pluginFault }: RequestPathSetup) {
  const { expect: onDeadline } = new RequestDeadlines(clock, inFlight);
  const onListenerFault = (error: unknown, requestId: string): void => {
    const plugin = blamedPlugin(error);
    if (plugin !== undefined) pluginFault({ kind: 'listener', plugin, requestId, error });
    else log.error({ err: error, request_id: requestId }, 'a listener of a request failed');
  };
  return async (ctx: Koa.Context, { operation, params, format, refusal }: Routed): Promise<void> => {
    const lease = live.take();
    const { snapshot } = lease;
    const id = newId?.();
    const exchange = new HttpExchange(ctx.req, {
      operation,
      clientFormat: format,
      params,
      snapshot,
      clock,
      id,
      onDeadline,
      onListenerFault,
    });
    const settle = (end: ReplyEnd): void => {
      if (!inFlight.leave(exchange)) return;
      exchange.end(end);
      // After its plugins have heard of the end: this may be what closes them.
      lease.release();
    };
    const { res } = ctx;
    exchange.error = inFlight.enter({ exchange, res, refused: refusal !== undefined, settle }) ?? refusal;
    const context = withExchange(ctx, exchange);
    watchClient(ctx.res, exchange);

    let reply: Reply;
    try {
      await snapshot.entry(context);
      if (!exchange.reply) answerByStatus(ctx.response);
      if (!exchange.reply) throw noReply(exchange);
      reply = exchange.reply;
    } catch (thrown) {
      const error = toGatewayError(thrown);
      // `watchedLink` has already logged faults of outside plugins.
      if (error.plugin === undefined) log.error({ err: thrown, request_id: exchange.id }, 'the entry chain failed');
      reply = exchange.reply = bareError(exchange, error, format);
    }
    exchange.seal();

    try {
      describeReply(reply, exchange, snapshot, format);
    } catch (err) {
      // A plugin has put something unusable into the exchange: the reply leaves without what could not be said of it.
      log.error({ err, request_id: exchange.id }, 'the reply headers could not be built');
    }
    if (inFlight.draining) reply.headers['connection'] = 'close';
    const { id: requestId, deadline, error } = exchange;
    inFlight.replies(exchange, writeReply(res, reply, { clock, requestId, deadline, format, error, onEnd: settle }));
  };
}

/** Koa must not answer itself: its stream bodies cost 170 µs and two error events per broken stream (measured). */
function withExchange(ctx: Koa.Context, exchange: HttpExchange): GatewayContext {
  ctx.respond = false;
  return Object.assign(ctx, { exchange, attempt: undefined });
}

/** A client that leaves ends its request everywhere at once, or upstream pools run dry. */
function watchClient(res: ServerResponse, exchange: HttpExchange): void {
  res.once('close', () => {
    if (!res.writableFinished) exchange.cancellation.cancel(new GatewayError('client_closed', 'The client left.'));
  });
}

function describeReply(reply: Reply, exchange: HttpExchange, snapshot: PathSettings, format: Format): void {
  setGatewayHeaders(reply, exchange, snapshot.headerNames.response(exchange.request.headers));
  setOriginHeaders(reply, exchange, snapshot);
  // Where clients of the API look for it; an upstream's own id of the same name stays.
  reply.headers[format.requestIdHeader] ??= exchange.id;
}

/** For an entry chain without the `errors` plugin, or one in which it fails. */
function bareError(exchange: HttpExchange, error: GatewayError, format: Format): Reply {
  exchange.error = error;
  return errorReply(error, format, exchange.id);
}

/** What the config wants replies to say about how they came about. */
function setOriginHeaders(
  { headers }: Reply,
  exchange: HttpExchange,
  { headerNames, pluginTimes }: PathSettings,
): void {
  const { config, request } = exchange;
  if (!config || config.replyHeaders.size === 0) return;
  const names = headerNames.response(request.headers);
  if (config.replyHeaders.has('config_hash')) headers[names.configHash] = config.hash;
  if (config.replyHeaders.has('server_timing') && pluginTimes) {
    const own = headers['server-timing'];
    const times = pluginTimes.header(exchange);
    headers['server-timing'] = own === undefined ? times : `${own}, ${times}`;
  }
}

function setGatewayHeaders({ headers }: Reply, exchange: HttpExchange, names: ResponseHeaderNames): void {
  headers[names.requestId] = exchange.id;
  headers[names.traceId] = exchange.trace.traceId;
  if (exchange.explainId !== undefined) headers[names.explainId] = exchange.explainId;
  const attempt = exchange.attempts.at(-1);
  if (!attempt) return;
  headers[names.optionIndex] = attempt.target.path;
  headers[names.retryCount] = String(retriesOf(attempt.tries));
  if (attempt.resolved) headers[names.provider] = attempt.resolved.slug;
  if (attempt.cache) headers[names.cacheStatus] = attempt.cache.toUpperCase();
  // Of a stream, what its first events have shown: the rest is in the record and the metrics.
  const losses = lossesOf(attempt);
  if (losses.length > 0) headers[names.droppedParams] = lossHeader(losses);
}
