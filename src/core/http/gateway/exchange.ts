import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Format } from '../../../formats/format.ts';
import { GatewayError, type Clock, type ReplyEnd, type Secret } from '../../../plugin/index.ts';
import type {
  Attempt,
  Caller,
  ChosenBranch,
  ClientCertificate,
  Exchange,
  GatewayConfig,
  InboundRequest,
  Operation,
  PathParams,
  RequestBody,
  SkippedTarget,
  UsedPrompt,
} from '../../kernel/index.ts';
import { isGivenUp } from '../../kernel/outside/plugin-work.ts';
import { CONNECTION_HEADERS } from '../../providers/connection-headers.ts';
import { readTraceparent } from '../../record/traces/traceparent.ts';
import { clientAddress } from './client-address.ts';
import { clientCertificateOf } from './client-certificate.ts';
import type { InFlightEntry } from './admission/in-flight.ts';
import type { HeaderNames } from './header-names.ts';
import { googleKeys } from '../../kernel/client-keys.ts';
import { traceId, uuidv7, withoutDashes } from '../../kernel/ids.ts';
import { readHead, type RequestHead } from '../../kernel/request-head.ts';
import { shortList } from '../../kernel/short-list.ts';
import type { ExchangeSettings } from './path-settings.ts';
import { GuardedCancellation, guardedListener, type ListenerFaults } from './plugin-listener.ts';
import { ReplyHolder } from './reply-holder.ts';

const REQUEST_ID = /^[\w-]{1,128}$/;
/** 32 hex digits, not all zero (W3C Trace Context, section 3.2.2.3). */
const TRACE_ID = /^(?!0{32})[0-9a-f]{32}$/;

interface ExchangeSetup {
  readonly operation: Operation | undefined;
  readonly clientFormat: Format | undefined;
  readonly params: PathParams;
  readonly snapshot: ExchangeSettings;
  readonly clock: Clock;
  /** A fixed id, for a request that is explained after it was served. */
  readonly id?: string | undefined;
  readonly onDeadline?: ((deadline: number) => void) | undefined;
  /** Called when a listener throws. The other listeners still run. */
  readonly onListenerFault?: ((error: unknown, requestId: string) => void) | undefined;
}

/** The exchange of one request. It exists from the moment the request's head was read. */
export class HttpExchange extends ReplyHolder implements Exchange, ListenerFaults {
  readonly id: string;
  readonly startedAt: number;
  readonly settingsHash: string;
  readonly operation: Operation | undefined;
  readonly clientFormat: Format | undefined;
  readonly request: InboundRequest;
  readonly attempts: Attempt[] = shortList();
  readonly skipped: SkippedTarget[] = [];
  readonly conditions: ChosenBranch[] = [];
  draws: number[] | undefined;
  explainId: string | undefined;
  trace: Exchange['trace'];
  caller: Caller | undefined;
  upstreamToken: Secret | undefined;
  config: GatewayConfig | undefined;
  alias: Exchange['alias'];
  longContext: Exchange['longContext'];
  askedModel: string | undefined;
  namesConfig: Exchange['namesConfig'];
  strict: boolean | undefined;
  strictParams = false;
  metadata: Readonly<Record<string, string>> = {};
  labels: Readonly<Record<string, string>> = {};
  prompt: UsedPrompt | undefined;
  upload: Exchange['upload'];
  kept: Exchange['kept'];
  boundLabels: ReadonlySet<string> | undefined;
  droppedMetadata: number | undefined;
  limits: Exchange['limits'];
  error: GatewayError | undefined;
  inFlight: InFlightEntry | undefined;
  #firstListener: EndListener | undefined;
  #lastListener: EndListener | undefined;
  #end: ReplyEnd | undefined;
  #deadline: number;
  /** Set where the caller chose the id: it may send the same one again. Not private: explain reads through derived objects. */
  readonly ownReplyId: string | undefined;
  readonly #cancellation = new GuardedCancellation(this);
  readonly #onDeadline: ExchangeSetup['onDeadline'];
  readonly #onListenerFault: ExchangeSetup['onListenerFault'];

  constructor(req: IncomingMessage, setup: ExchangeSetup) {
    const { operation, clientFormat, params, snapshot, clock, id } = setup;
    super();
    const head = readHead(req.headers, snapshot.headerNames.prefixes);
    const { requestId: requested } = head;
    const isUsable =
      typeof requested === 'string' && REQUEST_ID.test(requested) && !isKey(requested, req.headers, snapshot);
    this.id = id ?? (isUsable ? requested : uuidv7(clock.wall()));
    this.ownReplyId = this.id === requested && id === undefined ? withoutDashes(uuidv7(clock.wall())) : undefined;
    this.startedAt = clock.now();
    this.#onDeadline = setup.onDeadline;
    this.#onListenerFault = setup.onListenerFault;
    this.#deadline = this.startedAt + snapshot.server.deadlineMs;
    setup.onDeadline?.(this.#deadline);
    this.settingsHash = snapshot.hash;
    this.operation = operation;
    this.clientFormat = clientFormat;
    this.request = new HttpRequest(req, params, { snapshot, exchange: this, head });
    const parent = head.traceparent ? readTraceparent(req.headers) : undefined;
    this.trace = { traceId: parent?.traceId ?? (head.own ? this.#traceIdHeader(snapshot) : undefined) ?? traceId() };
  }

  /** A trace that the caller names without taking part in it, in W3C's form or as a UUID. */
  #traceIdHeader(snapshot: Pick<ExchangeSettings, 'headerNames'>): string | undefined {
    const requested = this.request.header('trace-id');
    if (requested === undefined || isKey(requested, this.request.headers, snapshot)) return undefined;
    const id = requested.replaceAll('-', '').toLowerCase();
    return TRACE_ID.test(id) ? id : undefined;
  }

  /** Read-only: assigning to it throws, so no plugin can disconnect the exchange from the client's disconnect. */
  get cancellation(): GuardedCancellation {
    return this.#cancellation;
  }

  get replyId(): string {
    return this.ownReplyId ?? withoutDashes(this.id);
  }

  get deadline(): number {
    return this.#deadline;
  }

  set deadline(deadline: number) {
    // A plugin may compute NaN, and a comparison with NaN is never true.
    if (!Number.isFinite(deadline)) throw new TypeError('exchange.deadline must be a finite number');
    if (isGivenUp(this)) return;
    this.#deadline = deadline;
    this.#onDeadline?.(deadline);
  }

  /** A listener added after the end runs at once: an attempt that was never awaited must not outlive its request. */
  onEnd(listener: (end: ReplyEnd) => void): void {
    const guarded = guardedListener(listener, this);
    if (this.#end) return guarded(this.#end);
    const added: EndListener = { listener: guarded, next: undefined };
    if (this.#lastListener) this.#lastListener.next = added;
    else this.#firstListener = added;
    this.#lastListener = added;
  }

  listenerFailed(error: unknown): void {
    this.#onListenerFault?.(error, this.id);
  }

  /** Calls each listener once. A listener that throws does not stop the others. */
  end(end: ReplyEnd): void {
    this.#end = end;
    let one = this.#firstListener;
    this.#firstListener = this.#lastListener = undefined;
    for (; one; one = one.next) {
      try {
        one.listener(end);
      } catch (error) {
        this.listenerFailed(error);
      }
    }
  }
}

/** A listener, and the one that was added after it. An array takes twice the memory for the two or three of a request. */
interface EndListener {
  readonly listener: (end: ReplyEnd) => void;
  next: EndListener | undefined;
}

/** True if the text is one of the caller's keys: ids appear in logs, records and replies. */
function isKey(
  text: string,
  headers: IncomingMessage['headers'],
  { headerNames }: Pick<ExchangeSettings, 'headerNames'>,
): boolean {
  const keys = [
    headerNames.read(headers, 'api-key'),
    headers['x-api-key'],
    headers.authorization,
    ...googleKeys(headers),
  ];
  return keys.some((key) => key === text || key?.toString().endsWith(` ${text}`));
}

/**
 * Drops the headers that `connection` names (RFC 9110, section 7.6.1), before anything reads them: conditions, the
 * cache and forwarding see only end-to-end headers. The framing headers stay: node:http has read them.
 */
function endToEnd(headers: IncomingMessage['headers'], { connection }: RequestHead): IncomingMessage['headers'] {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return headers;
  const names = connection.split(',').map((name) => name.trim().toLowerCase());
  const named = new Set(names.filter((name) => !CONNECTION_HEADERS.has(name)));
  if (named.size === 0) return headers;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !named.has(name)));
}

interface RequestOf {
  readonly snapshot: Pick<ExchangeSettings, 'headerNames' | 'isTrustedProxy'>;
  readonly exchange: Exchange;
  readonly head: RequestHead;
}

class HttpRequest implements InboundRequest {
  readonly method: string;
  readonly path: string;
  readonly params: PathParams;
  readonly headers: IncomingMessage['headers'];
  readonly head: RequestHead;
  readonly remoteAddress: string;
  bodyBytes = 0;
  bodyValidated = false;
  #body: RequestBody | undefined;
  readonly #names: HeaderNames;
  readonly #exchange: Exchange;
  readonly #socket: Socket;

  constructor(req: IncomingMessage, params: PathParams, { snapshot, exchange, head }: RequestOf) {
    const { headerNames, isTrustedProxy } = snapshot;
    const url = req.url ?? '/';
    const query = url.indexOf('?');
    this.method = req.method ?? 'GET';
    this.path = query < 0 ? url : url.slice(0, query);
    this.params = params;
    this.head = head;
    this.headers = endToEnd(req.headers, head);
    const peer = req.socket.remoteAddress ?? '';
    // Reads the raw headers: a client could hide X-Forwarded-For by naming it in `Connection`.
    this.remoteAddress = isTrustedProxy ? clientAddress(peer, req.headers, isTrustedProxy) : peer;
    this.#names = headerNames;
    this.#exchange = exchange;
    this.#socket = req.socket;
  }

  get clientCertificate(): ClientCertificate | undefined {
    return clientCertificateOf(this.#socket);
  }

  get body(): RequestBody | undefined {
    return this.#body;
  }

  set body(body: RequestBody | undefined) {
    if (!isGivenUp(this.#exchange)) this.#body = body;
  }

  header(name: string): string | undefined {
    return this.head.own ? this.#names.read(this.headers, name) : undefined;
  }

  headerName(name: string): string {
    return this.#names.nameFor(this.headers, name);
  }
}
