import type { Logger } from 'pino';
import { noReply } from '../chain/instance.ts';
import type { Format } from '../../../formats/format.ts';
import { blamedPlugin } from '../../kernel/outside/blame.ts';
import { errorReply, portkeyHint, toGatewayError } from '../../kernel/index.ts';
import type { Taps } from '../../kernel/taps.ts';
import { GatewayError, type Clock, type Reply, type ReplyEnd } from '../../../plugin/index.ts';
import { HttpExchange } from './exchange.ts';
import type { InFlight, LeavingReply } from './admission/in-flight.ts';
import { describeReply } from './reply-headers.ts';
import type { Lease } from './path-settings.ts';
import type { ReportPluginFailure } from './plugin-faults.ts';
import { writeReply } from './reply-writer.ts';
import { RequestDeadlines } from './request-deadlines.ts';
import { RequestScope, type Incoming, type Routed } from './request-scope.ts';
import { endUnread } from './unread-body.ts';

interface RequestPathSetup {
  /** The current settings. A request keeps the ones it began with. */
  readonly live: { take(): Lease };
  readonly inFlight: InFlight;
  readonly clock: Clock;
  readonly log: Logger;
  readonly taps?: Taps | undefined;
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
export function createRequestPath({ live, inFlight, clock, log, taps, newId, pluginFault, onHint }: RequestPathSetup) {
  const { expect: onDeadline } = new RequestDeadlines(clock, inFlight);
  const onListenerFault = listenerFaults(pluginFault, log);
  const onFault = (err: unknown, id: string): void => log.error({ err, request_id: id }, 'the head cannot be written');
  let hinted = false;
  return async (incoming: Incoming, { operation, params, format, refusal }: Routed): Promise<void> => {
    const lease = live.take();
    const { snapshot } = lease;
    const exchange = new HttpExchange(incoming.req, {
      operation,
      clientFormat: format,
      params,
      snapshot,
      clock,
      id: newId?.(),
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
    if (!hinted && exchange.request.head.portkey) hinted = warnOfHeaders(exchange, { log, onHint });
    exchange.error = inFlight.enter({ exchange, res, refused: refusal !== undefined, settle }) ?? refusal;
    const scope = new RequestScope(incoming, exchange);
    let writer: LeavingReply | undefined;
    // One listener for the whole request: each one costs as much as a plugin (measured).
    res.on('close', () => {
      // A client disconnect cancels the request everywhere at once. Otherwise upstream connection pools run dry.
      if (!res.writableFinished) exchange.cancellation.cancel(new GatewayError('client_closed', 'The client left.'));
      writer?.closed();
    });

    let reply: Reply;
    try {
      await snapshot.entry(scope);
      const answer = exchange.reply ?? scope.answerByStatus();
      if (!answer) throw noReply(exchange);
      reply = answer;
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
      // A plugin may have put an unusable value into the exchange: the reply leaves without the headers that describe it.
      log.error({ err, request_id: exchange.id }, 'the reply headers could not be built');
    }
    if (inFlight.draining) reply.headers['connection'] = 'close';
    if (!incoming.req.complete) endUnread(incoming, reply, exchange, clock);
    const { deadline, error } = exchange;
    const sent = taps?.replying ? taps.replying(exchange, reply) : reply;
    writer = writeReply(res, sent, { clock, exchange, deadline, format, error, onEnd: settle, onFault });
    inFlight.replies(exchange, writer);
  };
}

const listenerFaults =
  (pluginFault: ReportPluginFailure, log: Logger) =>
  (error: unknown, requestId: string): void => {
    const plugin = blamedPlugin(error);
    if (plugin !== undefined) pluginFault({ kind: 'listener', plugin, requestId, error });
    else log.error({ err: error, request_id: requestId }, 'a listener of a request failed');
  };

/** Clients of Portkey go on with headers that this gateway does not read; one line of the log is enough to see it. */
function warnOfHeaders({ id, request }: HttpExchange, to: Pick<RequestPathSetup, 'log' | 'onHint'>): boolean {
  const text = portkeyHint(request).trimStart();
  if (text === '') return false;
  const hint = { requestId: id, text };
  if (to.onHint) to.onHint(hint);
  else logHint(to.log, hint);
  return true;
}

function bareError(exchange: HttpExchange, error: GatewayError, format: Format): Reply {
  exchange.error = error;
  return errorReply(error, format, exchange.id);
}
