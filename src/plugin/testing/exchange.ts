import { IncomingMessage, ServerResponse, type IncomingHttpHeaders } from 'node:http';
import { Socket } from 'node:net';
import Koa from 'koa';
import { Cancellation } from '../cancellation.ts';
import { GatewayError } from '../errors.ts';
import { newTry, type Attempt, type TryRecord } from '../../core/kernel/attempt.ts';
import type { AttemptContext, Exchange, GatewayContext } from '../../core/kernel/exchange.ts';
import type { PathParams } from '../../core/kernel/operation.ts';
import { cancelReply, heldReply } from '../../core/kernel/reply.ts';
import type { Reply, ReplyEnd } from '../reply.ts';
import { RequestBody } from '../../core/kernel/body/request-body.ts';
import { readHead } from '../../core/kernel/request-head.ts';
import type { Target } from '../../core/kernel/settings.ts';
import { createCaller, createTarget } from './settings.ts';

const app = new Koa();
const MAX_DEPTH = 64;

/** An exchange as a plugin receives it; the test decides when its reply ends. */
export interface TestExchange extends Exchange {
  /** Ends the reply: calls the `onEnd` listeners once, as the server does. */
  end(how?: Partial<ReplyEnd>): void;
}

export interface ExchangeParts extends Partial<Omit<Exchange, 'request' | 'onEnd'>> {
  /** The request's body, already parsed and validated. Default: `{}`. */
  readonly json?: Readonly<Record<string, unknown>>;
  /** Lower-case names. `header('config')` reads `x-gateway-config`. */
  readonly headers?: IncomingHttpHeaders;
  readonly remoteAddress?: string;
  /** Path parameters by name. */
  readonly params?: PathParams;
}

/** Creates an exchange as it is after the entry chain; `parts` overrides its fields. */
export function createExchange(parts: ExchangeParts = {}): TestExchange {
  const { json = {}, headers = {}, remoteAddress = '127.0.0.1', params = {}, ...rest } = parts;
  const bytes = Buffer.from(JSON.stringify(json));
  let listeners: ((end: ReplyEnd) => void)[] = [];
  return withReply({
    id: 'test-request',
    replyId: 'testreply',
    startedAt: 0,
    settingsHash: 'test-settings',
    operation: undefined,
    request: {
      method: 'POST',
      path: '/v1/chat/completions',
      params,
      headers,
      head: readHead(headers, ['x-gateway-']),
      remoteAddress,
      body: RequestBody.read(bytes, MAX_DEPTH),
      bodyBytes: bytes.length,
      bodyValidated: true,
      header: (name: string) => [headers[`x-gateway-${name}`]].flat()[0],
      headerName: (name: string) => `x-gateway-${name}`,
    },
    deadline: 900_000,
    skipped: [],
    conditions: [],
    draws: undefined,
    explainId: undefined,
    trace: { traceId: '0af7651916cd43dd8448eb211c80319c' },
    cancellation: new Cancellation(),
    caller: createCaller(),
    upstreamToken: undefined,
    config: undefined,
    strict: undefined,
    strictParams: false,
    metadata: {},
    labels: {},
    attempts: [],
    reply: undefined,
    error: undefined,
    ...rest,
    onEnd: (listener) => void listeners.push(listener),
    end(how = {}) {
      const reported = listeners;
      listeners = [];
      for (const listener of reported) listener({ state: 'complete', status: 200, bytes: 0, error: undefined, ...how });
    },
  });
}

export interface AttemptParts extends Partial<Omit<Attempt, 'target'>> {
  readonly target?: Partial<Target>;
}

const TIMEOUTS = { connect: 5000, firstByte: 600_000, firstContent: 180_000, idle: 300_000, total: 900_000 };

/** Creates the next attempt of an exchange. Its target has no retries, and its failures do not fall through. */
export function createAttempt(exchange: Exchange, { target, ...rest }: AttemptParts = {}): Attempt {
  const { startedAt = 0, timeouts = TIMEOUTS } = rest;
  const attempt: Attempt = withReply({
    number: exchange.attempts.length,
    target: createTarget(target),
    choice: { reason: 'only', fallsThrough: () => false },
    startedAt,
    timeouts,
    deadline: Math.min(startedAt + timeouts.total, exchange.deadline),
    cancellation: new Cancellation(),
    body: exchange.request.body ?? RequestBody.read(Buffer.from('{}'), MAX_DEPTH),
    resolved: undefined,
    outbound: undefined,
    losses: [],
    tries: [],
    cache: undefined,
    semantic: undefined,
    wait: undefined,
    signals: undefined,
    reply: undefined,
    error: undefined,
    ...rest,
  });
  exchange.attempts.push(attempt);
  return attempt;
}

/** Creates the record of a try in flight. */
export const createTry = (parts: Partial<TryRecord> = {}): TryRecord => ({ ...newTry(0, 0), ...parts });

/** Replacing a reply cancels the old reply's source, as in the server. */
function withReply<T extends Pick<Exchange, 'reply'>>(holder: T): T {
  let current = holder.reply && heldReply(holder.reply);
  return Object.defineProperty(holder, 'reply', {
    enumerable: true,
    get: () => current,
    set(reply: Reply | undefined) {
      const old = current;
      current = reply && heldReply(reply);
      if (old && old.body !== reply?.body)
        cancelReply(old, new GatewayError('client_closed', 'Another reply replaced it.'));
    },
  });
}

/** Creates a Koa context without a connection: `ctx.status`, `ctx.body`, `ctx.set` and `ctx.req` work. */
export function createContext(exchange: Exchange, attempt: Attempt): AttemptContext;
export function createContext(exchange: Exchange, attempt?: Attempt): GatewayContext;
export function createContext(exchange: Exchange, attempt?: Attempt): GatewayContext {
  const { method, path, headers } = exchange.request;
  const req = Object.assign(new IncomingMessage(new Socket()), { method, url: path, headers });
  const res = new ServerResponse(req);
  // Koa's initial status of an unanswered request.
  res.statusCode = 404;
  return Object.assign(app.createContext(req, res), { exchange, attempt });
}
