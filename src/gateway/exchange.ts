import type { IncomingMessage } from 'node:http';
import type { Format } from '../formats/format.ts';
import {
  GatewayError,
  type Attempt,
  type Caller,
  type ChosenBranch,
  type Clock,
  type Exchange,
  type GatewayConfig,
  type InboundRequest,
  type Operation,
  type PathParams,
  type ReplyEnd,
  type RequestBody,
  type Secret,
  type SkippedTarget,
  type TraceContext,
} from '../plugin/index.ts';
import { isGivenUp } from '../chain/plugin-work.ts';
import { CONNECTION_HEADERS } from '../providers/connection-headers.ts';
import { readTraceparent } from '../record/traces/traceparent.ts';
import { clientAddress } from './client-address.ts';
import type { HeaderNames } from './header-names.ts';
import { traceId, uuidv7 } from '../plugin/ids.ts';
import type { ExchangeSettings } from './path-settings.ts';
import { GuardedCancellation, guardedListener, type ListenerFaults } from './plugin-listener.ts';
import { ReplyHolder } from './reply-holder.ts';

const REQUEST_ID = /^[\w-]{1,128}$/;
/** 32 hex digits, not all of them zero (W3C Trace Context, section 3.2.2.3). */
const TRACE_ID = /^(?!0{32})[0-9a-f]{32}$/;

export interface ExchangeSetup {
  readonly operation: Operation | undefined;
  readonly clientFormat: Format | undefined;
  /** Of the operation's path. */
  readonly params: PathParams;
  readonly snapshot: ExchangeSettings;
  readonly clock: Clock;
  /** Of a request that is explained after it was served. */
  readonly id?: string | undefined;
  /** The request has a deadline, or another one. */
  readonly onDeadline?: ((deadline: number) => void) | undefined;
  /** A listener has thrown: it does not keep the others from hearing. */
  readonly onListenerFault?: ((error: unknown, requestId: string) => void) | undefined;
}

/** The exchange of one request, from the moment its head was read. */
export class HttpExchange extends ReplyHolder implements Exchange, ListenerFaults {
  readonly id: string;
  readonly startedAt: number;
  readonly settingsHash: string;
  readonly operation: Operation | undefined;
  readonly clientFormat: Format | undefined;
  readonly request: InboundRequest;
  readonly attempts: Attempt[] = [];
  readonly skipped: SkippedTarget[] = [];
  readonly conditions: ChosenBranch[] = [];
  draws: number[] | undefined;
  explainId: string | undefined;
  trace: TraceContext;
  caller: Caller | undefined;
  upstreamToken: Secret | undefined;
  config: GatewayConfig | undefined;
  strict: boolean | undefined;
  strictParams = false;
  metadata: Readonly<Record<string, string>> = {};
  labels: Readonly<Record<string, string>> = {};
  error: GatewayError | undefined;
  #endListeners: ((end: ReplyEnd) => void)[] = [];
  #end: ReplyEnd | undefined;
  #deadline = Infinity;
  readonly #cancellation = new GuardedCancellation(this);
  readonly #onDeadline: ExchangeSetup['onDeadline'];
  readonly #onListenerFault: ExchangeSetup['onListenerFault'];

  constructor(req: IncomingMessage, setup: ExchangeSetup) {
    const { operation, clientFormat, params, snapshot, clock, id } = setup;
    super();
    const asked = req.headers['x-request-id'];
    const isOwn = typeof asked === 'string' && REQUEST_ID.test(asked) && !isKey(asked, req.headers, snapshot);
    this.id = id ?? (isOwn ? asked : uuidv7(clock.wall()));
    this.startedAt = clock.now();
    this.#onDeadline = setup.onDeadline;
    this.#onListenerFault = setup.onListenerFault;
    this.deadline = this.startedAt + snapshot.server.deadlineMs;
    this.settingsHash = snapshot.hash;
    this.operation = operation;
    this.clientFormat = clientFormat;
    this.request = new HttpRequest(req, params, { snapshot, exchange: this });
    this.trace = { traceId: readTraceparent(req.headers)?.traceId ?? this.#askedTrace(snapshot) ?? traceId() };
  }

  /** A trace the caller names without being part of it: `x-gateway-trace-id`, in W3C's form or as a UUID. */
  #askedTrace(snapshot: Pick<ExchangeSettings, 'headerNames'>): string | undefined {
    const asked = this.request.header('trace-id');
    if (asked === undefined || isKey(asked, this.request.headers, snapshot)) return undefined;
    const id = asked.replaceAll('-', '').toLowerCase();
    return TRACE_ID.test(id) ? id : undefined;
  }

  /** Without a setter: a plugin that assigns something else fails, and a client that leaves still ends the request. */
  get cancellation(): GuardedCancellation {
    return this.#cancellation;
  }

  get deadline(): number {
    return this.#deadline;
  }

  set deadline(deadline: number) {
    // A plugin may compute it from anything; a comparison with NaN is never true.
    if (!Number.isFinite(deadline)) throw new TypeError('exchange.deadline must be a finite number');
    if (isGivenUp(this)) return;
    this.#deadline = deadline;
    this.#onDeadline?.(deadline);
  }

  protected override get isFenced(): boolean {
    return isGivenUp(this);
  }

  /** Who comes too late is told at once: an attempt that nobody awaited must not outlive its request. */
  onEnd(listener: (end: ReplyEnd) => void): void {
    const heard = guardedListener(listener, this);
    if (this.#end) heard(this.#end);
    else this.#endListeners.push(heard);
  }

  listenerFailed(error: unknown): void {
    this.#onListenerFault?.(error, this.id);
  }

  /** Tells the listeners, once. A listener that throws does not keep the others from hearing. */
  end(end: ReplyEnd): void {
    const listeners = this.#endListeners;
    this.#end = end;
    this.#endListeners = [];
    for (const listener of listeners) {
      try {
        listener(end);
      } catch (error) {
        this.listenerFailed(error);
      }
    }
  }
}

/** What a caller calls its request or trace stands in logs, records and replies: none of the keys it sends, by mistake, is taken for it. */
function isKey(
  text: string,
  headers: IncomingMessage['headers'],
  { headerNames }: Pick<ExchangeSettings, 'headerNames'>,
): boolean {
  const keys = [headerNames.read(headers, 'api-key'), headers['x-api-key'], headers.authorization];
  return keys.some((key) => key === text || key?.toString().endsWith(` ${text}`));
}

/**
 * RFC 9110, section 7.6.1: what `connection` names was meant for this connection alone. It ends here, before anything reads it, or
 * a config would ask, keep a reply for and forward what was never sent. Framing is node:http's, which has read it already.
 */
function endToEnd(headers: IncomingMessage['headers']): IncomingMessage['headers'] {
  const { connection } = headers;
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return headers;
  const names = connection.split(',').map((name) => name.trim().toLowerCase());
  const named = new Set(names.filter((name) => !CONNECTION_HEADERS.has(name)));
  if (named.size === 0) return headers;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !named.has(name)));
}

interface RequestOf {
  readonly snapshot: Pick<ExchangeSettings, 'headerNames' | 'isTrustedProxy'>;
  readonly exchange: Exchange;
}

class HttpRequest implements InboundRequest {
  readonly method: string;
  readonly path: string;
  readonly params: PathParams;
  readonly headers: IncomingMessage['headers'];
  readonly remoteAddress: string;
  bodyBytes = 0;
  bodyValidated = false;
  #body: RequestBody | undefined;
  readonly #names: HeaderNames;
  readonly #exchange: Exchange;

  constructor(req: IncomingMessage, params: PathParams, { snapshot, exchange }: RequestOf) {
    const { headerNames, isTrustedProxy } = snapshot;
    const url = req.url ?? '/';
    const query = url.indexOf('?');
    this.method = req.method ?? 'GET';
    this.path = query < 0 ? url : url.slice(0, query);
    this.params = params;
    this.headers = endToEnd(req.headers);
    const peer = req.socket.remoteAddress ?? '';
    // Reads the raw headers: a client could hide X-Forwarded-For by naming it in `Connection`.
    this.remoteAddress = isTrustedProxy ? clientAddress(peer, req.headers, isTrustedProxy) : peer;
    this.#names = headerNames;
    this.#exchange = exchange;
  }

  get body(): RequestBody | undefined {
    return this.#body;
  }

  set body(body: RequestBody | undefined) {
    if (!isGivenUp(this.#exchange)) this.#body = body;
  }

  header(name: string): string | undefined {
    return this.#names.read(this.headers, name);
  }

  headerName(name: string): string {
    return this.#names.nameFor(this.headers, name);
  }
}
