import type { Logger } from 'pino';
import { noReply } from '../chain/instance.ts';
import type { Format } from '../../../formats/format.ts';
import { blamedPlugin } from '../../kernel/outside/blame.ts';
import { lossesOf, portkeyHint, retriesOf, errorReply, toGatewayError } from '../../kernel/index.ts';
import { GatewayError, type Clock, type Reply, type ReplyEnd } from '../../../plugin/index.ts';
import { HttpExchange } from './exchange.ts';
import type { ResponseHeaderNames } from './header-names.ts';
import type { InFlight, LeavingReply } from './admission/in-flight.ts';
import { setRateHeaders } from './rate-headers.ts';
import { lossHeader } from './loss-header.ts';
import type { Lease, PathSettings } from './path-settings.ts';
import type { ReportPluginFailure } from './plugin-faults.ts';
import { writeReply } from './reply-writer.ts';
import { RequestDeadlines } from './request-deadlines.ts';
import { RequestScope, type Incoming } from './request-scope.ts';
import type { Routed } from './routed.ts';
import { endUnread } from './unread-body.ts';

export interface RequestPathSetup {
  /** The current settings. A request keeps the ones it began with. */
  readonly live: { take(): Lease };
  readonly inFlight: InFlight;
  readonly clock: Clock;
  readonly log: Logger;
  readonly pluginFault: ReportPluginFailure;
  /** Gets the hint at the headers of the first request that has one. Default: it is logged. */
  readonly onHint?: ((hint: HeaderHint) => void) | undefined;
  /** Fixed request ids, for tests. */
  readonly newId?: () => string | undefined;
}

/** Headers without effect that clients send. */
export interface HeaderHint {
  readonly requestId: string;
  readonly text: string;
}

export const logHint = (log: Logger, { requestId, text }: HeaderHint): void =>
  log.warn({ request_id: requestId }, text);

/**
 * The whole path of a request, in order:
 *
 *   in              leases the settings; takes a place among the requests in flight, or gets a 503 (InFlight)
 *   entry chain     telemetry → errors → auth → models → body → responses → config (server.yaml, chains.entry);
 *                   with stored files, `files` after `models`; with limits, `limit` after `auth`, `limit-tokens` before `config`
 *                   after `auth`: checks the caller's share of the places, or answers 503 (compose/snapshot.ts)
 *     request chain   metadata → route                                 (run by `config`; the gateway config's `plugins`);
 *                     with prompts, `prompts` first
 *       attempt chain   override → cache → transform → retry → send    (run by `route`, once per target it tries);
 *                       with budgets or a ledger, `budget` after `transform`
 *   out             writes the reply to its last byte (writeReply), then returns place and lease (settle)
 *
 * Plugins that would do nothing for the operation, the config or the target are left out (chain/compose.ts). No reply
 * leaves before the chains have returned. `exchange.deadline` bounds the whole path; it is the server's
 * deadline until `config` sets another. Attempts and the writer have their own timers for it; RequestDeadlines covers
 * the rest. A client disconnect and a drain that runs out of time cancel the exchange or end the writer.
 */
export function createRequestPath({ live, inFlight, clock, log, newId, pluginFault, onHint }: RequestPathSetup) {
  const { expect: onDeadline } = new RequestDeadlines(clock, inFlight);
  const onListenerFault = (error: unknown, requestId: string): void => {
    const plugin = blamedPlugin(error);
    if (plugin !== undefined) pluginFault({ kind: 'listener', plugin, requestId, error });
    else log.error({ err: error, request_id: requestId }, 'a listener of a request failed');
  };
  let hinted = false;
  return async (incoming: Incoming, { operation, params, format, refusal }: Routed): Promise<void> => {
    const lease = live.take();
    const { snapshot } = lease;
    const id = newId?.();
    const exchange = new HttpExchange(incoming.req, {
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
      // After the plugins' end listeners: the release may close these plugins.
      lease.release();
    };
    const { res } = incoming;
    if (!hinted) hinted = warnOfHeaders(exchange, { log, onHint });
    exchange.error = inFlight.enter({ exchange, res, refused: refusal !== undefined, settle }) ?? refusal;
    const scope = new RequestScope(incoming, exchange);
    let writer: LeavingReply | undefined;
    // One listener for the whole request: each one costs as much as a plugin (measured).
    res.on('close', () => {
      // A client disconnect cancels the request everywhere at once. Otherwise upstream connection pools run dry.
      if (!res.writableFinished) exchange.cancellation.cancel(clientLeft());
      writer?.closed();
    });

    let reply: Reply;
    try {
      await snapshot.entry(scope);
      if (!exchange.reply) scope.answerByStatus();
      if (!exchange.reply) throw noReply(exchange);
      reply = exchange.reply;
    } catch (thrown) {
      const error = toGatewayError(thrown);
      // `watchedLink` has already logged faults of external plugins.
      if (error.plugin === undefined) log.error({ err: thrown, request_id: exchange.id }, 'the entry chain failed');
      reply = exchange.reply = bareError(exchange, error, format);
    }
    exchange.seal();

    try {
      describeReply(reply, exchange, { snapshot, format, clock });
    } catch (err) {
      // A plugin may have put an unusable value into the exchange. The reply leaves without the headers that describe
      // it.
      log.error({ err, request_id: exchange.id }, 'the reply headers could not be built');
    }
    if (inFlight.draining) reply.headers['connection'] = 'close';
    if (!incoming.req.complete) endUnread(incoming, reply, exchange, clock);
    const { deadline, error } = exchange;
    writer = writeReply(res, reply, { clock, exchange, deadline, format, error, onEnd: settle });
    inFlight.replies(exchange, writer);
  };
}

/** Clients of Portkey go on with headers that this gateway does not read; one line of the log is enough to see it. */
function warnOfHeaders({ id, request }: HttpExchange, to: Pick<RequestPathSetup, 'log' | 'onHint'>): boolean {
  const text = portkeyHint(request).trimStart();
  if (text === '') return false;
  const hint = { requestId: id, text };
  if (to.onHint) to.onHint(hint);
  else logHint(to.log, hint);
  return true;
}

const clientLeft = (): GatewayError => new GatewayError('client_closed', 'The client left.');

interface DescribedBy {
  readonly snapshot: PathSettings;
  readonly format: Format;
  readonly clock: Clock;
}

function describeReply(reply: Reply, exchange: HttpExchange, { snapshot, format, clock }: DescribedBy): void {
  if (exchange.limits)
    setRateHeaders(reply.headers, exchange.limits.figures(), { format: format.name, wall: clock.wall() });
  setGatewayHeaders(reply, exchange, snapshot.headerNames.response(exchange.request.headers));
  setOriginHeaders(reply, exchange, snapshot, clock);
  // The header in which clients of this API expect the request id. An upstream's own id of the same name stays.
  reply.headers[format.requestIdHeader] ??= exchange.id;
}

/** The error reply for an entry chain whose `errors` plugin is missing or has failed. */
function bareError(exchange: HttpExchange, error: GatewayError, format: Format): Reply {
  exchange.error = error;
  return errorReply(error, format, exchange.id);
}

/** Adds the reply headers that the config asks for: its hash, `Server-Timing` and the cost. */
function setOriginHeaders(
  reply: Reply,
  exchange: HttpExchange,
  { headerNames, pluginTimes, costHeader }: PathSettings,
  clock: Clock,
): void {
  const { headers } = reply;
  const { config, request } = exchange;
  if (!config || config.replyHeaders.size === 0) return;
  const names = headerNames.response(request.headers);
  if (config.replyHeaders.has('config_hash')) headers[names.configHash] = config.hash;
  if (config.replyHeaders.has('server_timing') && pluginTimes) {
    const own = headers['server-timing'];
    const times = pluginTimes.header(exchange);
    headers['server-timing'] = own === undefined ? times : `${own}, ${times}`;
  }
  if (config.replyHeaders.has('cost')) {
    const cost = costHeader?.of(exchange, reply, clock.wall() - clock.now() + exchange.startedAt);
    if (cost !== undefined) headers[names.cost] = cost;
  }
}

/** Other characters percent-encoded: headers are ASCII, and a caller may choose the name (RFC 9110, section 5.5). */
const headerText = (text: string): string => text.toWellFormed().replaceAll(/[^\x20-\x7e]/gu, encodeURIComponent);

function setGatewayHeaders({ headers, status }: Reply, exchange: HttpExchange, names: ResponseHeaderNames): void {
  headers[names.requestId] = exchange.id;
  headers[names.traceId] = exchange.trace.traceId;
  if (exchange.explainId !== undefined) headers[names.explainId] = exchange.explainId;
  const { prompt } = exchange;
  if (prompt) headers[names.prompt] = `${prompt.id}@${prompt.version}`;
  const attempt = exchange.attempts.at(-1);
  if (!attempt) return;
  if (attempt.budget?.headers && status === 200) Object.assign(headers, attempt.budget.headers);
  headers[names.optionIndex] = attempt.target.path;
  if (attempt.target.name !== undefined) headers[names.targetName] = headerText(attempt.target.name);
  headers[names.retryCount] = String(retriesOf(attempt.tries));
  if (attempt.resolved) headers[names.provider] = attempt.resolved.slug;
  if (attempt.resolved && exchange.alias) headers[names.model] = attempt.resolved.model;
  if (attempt.resolved?.estimatesTokens) headers[names.tokenCount] = 'estimate';
  if (attempt.cache) headers[names.cacheStatus] = attempt.cache.toUpperCase();
  // For a stream, only the losses known from its first events. The record and the metrics have all of them.
  const losses = lossesOf(attempt);
  if (losses.length > 0) headers[names.droppedParams] = lossHeader(losses);
  const { defaulted = [] } = attempt;
  if (defaulted.length > 0)
    headers[names.defaultedParams] = defaulted.map(({ param, value }) => `${param}=${value}`).join(',');
}
