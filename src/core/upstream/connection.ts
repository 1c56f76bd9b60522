import { isIP, isIPv6, type Socket } from 'node:net';
import { Client, type buildConnector, type Dispatcher } from 'undici';
import { toGatewayError } from '../kernel/index.ts';
import { UpstreamError, type Clock, type GatewayError } from '../../plugin/index.ts';
import { permittedAddresses, type Lookup } from './egress.ts';
import { causeOf, outOfSockets, toTlsError } from './faults.ts';
import { checkProxiedName, portOf, withoutBrackets } from './route.ts';
import { openTunnel, proxyAuthorization } from './tunnel.ts';
import type { ProxyServer } from './types.ts';

/** RFC 8305, section 5: the recommended delay before the next address is tried in parallel with a silent one. */
const ATTEMPT_DELAY_MS = 250;

/** The transport of connections: the network, or memory in config tests. */
export interface Wire {
  /** @param to a checked address, and the name that resolved to it */
  connect(to: { readonly host: string; readonly port: number; readonly hostname: string }): Socket;
  readonly secure: buildConnector.connector;
}

export interface DialContext {
  readonly clock: Clock;
  readonly lookup: Lookup;
  readonly allowInsecure: boolean;
  readonly metadataServer: boolean;
  readonly chosenByCaller: boolean;
  readonly wire: Wire;
  /** Undefined: the gateway connects to the upstream itself. */
  readonly proxy?: ProxyServer | undefined;
}

const ignore = (): void => {};

type Done = (error: GatewayError | undefined, socket?: Socket) => void;

/** Where a dial connects to: the upstream, or its proxy. */
interface Hop {
  readonly hostname: string;
  readonly port: number;
}

/**
 * Opens one connection: lookup, address check, connect to a checked address, TLS for the requested name; through a
 * proxy its name and address, and a tunnel before the TLS of the upstream. Attempts run in parallel, each after a
 * while: Node's `autoSelectFamily` gives all but the last too short a time for far regions. The waiting request has the
 * timeout.
 */
class Dial {
  readonly #context: DialContext;
  readonly #target: buildConnector.Options;
  readonly #hop: Hop;
  readonly #done: Done;
  readonly #attempts = new Set<Socket>();
  #addresses: readonly string[] = [];
  #next = 0;
  #stopWaiting: (() => void) | undefined;
  /** The socket under the TLS handshake. */
  #raw: Socket | undefined;
  #over = false;

  constructor(context: DialContext, target: buildConnector.Options, done: Done) {
    this.#context = context;
    this.#target = target;
    const { proxy } = context;
    this.#hop = proxy ? hopOf(new URL(proxy.url)) : { hostname: target.hostname, port: portOf(target) };
    this.#done = done;
  }

  async start(): Promise<void> {
    const { allowInsecure, chosenByCaller } = this.#context;
    try {
      this.#addresses = await this.#permitted();
    } catch (error) {
      const own = error instanceof Error ? outOfSockets(error.cause, this.#host) : undefined;
      this.#finish(own ?? (chosenByCaller && !allowInsecure ? unreported(error, this.#host) : toGatewayError(error)));
      return;
    }
    if (!this.#over) this.#attempt();
  }

  async #permitted(): Promise<readonly string[]> {
    const { allowInsecure, metadataServer, lookup, proxy } = this.#context;
    const { hostname } = this.#target;
    if (!proxy) return permittedAddresses(hostname, allowInsecure, lookup, metadataServer);
    // A literal address needs no lookup, and is checked like any other.
    if (isIP(hostname) !== 0) await permittedAddresses(hostname, allowInsecure, lookup);
    else checkProxiedName(hostname, allowInsecure);
    // The operator has named the proxy, which commonly has an inner address.
    return permittedAddresses(this.#hop.hostname, true, lookup);
  }

  abandon(reason: GatewayError): void {
    this.#finish(reason);
    this.#raw?.destroy();
  }

  get #host(): string {
    return authorityOf({ hostname: this.#target.hostname, port: portOf(this.#target) });
  }

  #attempt(): void {
    this.#stopWaiting?.();
    const address = this.#addresses[this.#next];
    if (address === undefined) return;
    this.#next += 1;
    // An address literal, so there is no second lookup.
    const socket = this.#context.wire.connect({ host: address, ...this.#hop });
    this.#attempts.add(socket);
    const onError = (error: Error): void => this.#failed(socket, error);
    socket.once('connect', () => {
      // A socket may live for hours and must not hold its dial. It always has a listener: an error without one ends the process.
      socket.on('error', ignore).off('error', onError);
      this.#connected(socket);
    });
    socket.on('error', onError);
    this.#stopWaiting = this.#context.clock.after(ATTEMPT_DELAY_MS, () => this.#attempt());
  }

  #failed(socket: Socket, error: Error): void {
    if (!this.#attempts.delete(socket) || this.#over) return;
    if (this.#next < this.#addresses.length) return this.#attempt();
    if (this.#attempts.size > 0) return;
    this.#finish(
      outOfSockets(error, this.#host) ??
        new UpstreamError('connection_failed', `No connection to ${this.#reached}${causeOf(error)}.`, { cause: error }),
    );
  }

  #connected(socket: Socket): void {
    this.#attempts.delete(socket);
    this.#stopWaiting?.();
    for (const loser of this.#attempts) loser.destroy();
    this.#attempts.clear();
    if (this.#over) {
      socket.destroy();
      return;
    }
    // Requests are written in one piece, so Nagle's delay has no benefit.
    socket.setNoDelay(true);
    const { proxy } = this.#context;
    if (proxy) this.#reachProxy(socket, proxy);
    else if (this.#target.protocol === 'https:')
      this.#handshake(socket, this.#target, (own) => this.#finish(undefined, own));
    else this.#finish(undefined, socket.setKeepAlive(true, 60_000));
  }

  /** An http upstream needs no tunnel: the proxy reads its requests (`ConnectionClient`). */
  #reachProxy(socket: Socket, proxy: ProxyServer): void {
    const reached = (own: Socket): void => {
      if (this.#target.protocol === 'https:') this.#tunnel(own, proxy);
      else this.#finish(undefined, own);
    };
    socket.setKeepAlive(true, 60_000);
    if (!proxy.url.startsWith('https:')) return reached(socket);
    const { hostname, port } = this.#hop;
    const host = authorityOf(this.#hop);
    this.#handshake(socket, { hostname, host, protocol: 'https:', port: String(port) }, reached);
  }

  #tunnel(socket: Socket, proxy: ProxyServer): void {
    this.#raw = socket;
    socket.on('error', ignore);
    openTunnel(socket, proxy, this.#host, (error) => {
      if (this.#over) return;
      if (!error) return this.#handshake(socket, this.#target, (own) => this.#finish(undefined, own));
      socket.destroy();
      this.#finish(error);
    });
  }

  #handshake(raw: Socket, target: buildConnector.Options, then: (socket: Socket) => void): void {
    this.#raw = raw;
    this.#context.wire.secure({ ...target, httpSocket: raw }, (...[error, socket]) => {
      if (error) {
        raw.destroy();
        this.#finish(toTlsError(error, target === this.#target ? this.#host : this.#reached));
      } else if (this.#over) socket.destroy();
      else then(socket);
    });
  }

  /** For messages, which callers see: the address of a proxy is none of theirs. */
  get #reached(): string {
    return this.#context.proxy ? `the proxy for ${this.#host}` : this.#host;
  }

  #finish(error: GatewayError | undefined, socket?: Socket): void {
    if (this.#over) return;
    this.#over = true;
    this.#stopWaiting?.();
    for (const attempt of this.#attempts) attempt.destroy();
    this.#attempts.clear();
    this.#done(error, socket);
  }
}

const hopOf = (url: URL): Hop => ({ hostname: withoutBrackets(url.hostname), port: portOf(url) });

const authorityOf = ({ hostname, port }: Hop): string => `${isIPv6(hostname) ? `[${hostname}]` : hostname}:${port}`;

/** The same error for an inner address and for none: callers could map the internal network name by name. */
const unreported = (cause: unknown, host: string): UpstreamError =>
  new UpstreamError(
    'egress_refused',
    `${host} cannot be reached: it has no address, or only addresses that callers may not choose (custom_hosts.allow_insecure).`,
    { cause },
  );

/** Opens a connection as a pool does, for a check of the way to an upstream. Nothing is sent to it. Rejects with GatewayError. */
export function openOnce(
  context: DialContext,
  origin: URL,
): { readonly opened: Promise<Socket>; abandon(reason: GatewayError): void } {
  const { promise: opened, resolve, reject } = Promise.withResolvers<Socket>();
  const { hostname, host, protocol, port } = origin;
  const target = { hostname: withoutBrackets(hostname), host, protocol, port };
  const dial = new Dial(context, target, (error, socket) => (socket ? resolve(socket) : reject(error)));
  void dial.start();
  return { opened, abandon: (reason) => dial.abandon(reason) };
}

/** One slot for a connection in a pool, in which connections are opened, used, lost and opened again. */
export class Connection {
  /** Complete replies on the current connection. */
  served = 0;
  readonly #context: DialContext;
  #dial: Dial | undefined;
  #socket: Socket | undefined;

  constructor(context: DialContext) {
    this.#context = context;
  }

  readonly connect: buildConnector.connector = (target, callback) => {
    this.#dial = new Dial(this.#context, target, (error, socket) => {
      this.#dial = undefined;
      this.#socket = socket;
      this.served = 0;
      if (socket) callback(null, socket);
      else callback(error!, null);
    });
    void this.#dial.start();
  };

  /** Aborts the dial when no request waits for the connection any more. undici then removes the slot from the pool. */
  abandonDial(reason: GatewayError): void {
    this.#dial?.abandon(reason);
  }

  /** The socket has handed every byte to the operating system, and reads no memory of a request. */
  get hasWrittenAll(): boolean {
    return this.#socket?.writableLength === 0;
  }

  /** Closes the socket, so that the next request in this slot opens a new connection. */
  drop(): void {
    this.#socket?.destroy();
  }
}

const isPassenger = (
  handler: Dispatcher.DispatchHandler,
): handler is Dispatcher.DispatchHandler & { board(connection: Connection): void } => 'board' in handler;

type Rewrite = (options: Dispatcher.DispatchOptions) => Dispatcher.DispatchOptions;

/** undici's client of one connection, which notifies each request of the connection. */
class ConnectionClient extends Client {
  readonly #connection: Connection;
  readonly #rewrite: Rewrite | undefined;

  constructor(origin: URL, context: DialContext, options: Client.Options) {
    const connection = new Connection(context);
    super(origin, { ...options, connect: connection.connect });
    const { proxy } = context;
    this.#connection = connection;
    this.#rewrite = proxy && origin.protocol === 'http:' ? throughProxy(origin, proxy) : undefined;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (isPassenger(handler)) handler.board(this.#connection);
    return super.dispatch(this.#rewrite ? this.#rewrite(options) : options, handler);
  }
}

/** The proxy of an http upstream reads the whole URL (RFC 9112, section 3.2.2), and its credentials in each request. */
function throughProxy(origin: URL, proxy: ProxyServer): Rewrite {
  const authorization = proxyAuthorization(proxy);
  const ofProxy = authorization === undefined ? {} : { 'proxy-authorization': authorization };
  return (options) => {
    // The gateway's own requests have their headers as an object.
    const headers = { ...(options.headers as Record<string, string>), ...ofProxy };
    return { ...options, path: origin.origin + options.path, headers };
  };
}

export const createClient = (origin: URL, options: Client.Options, context: DialContext): Client =>
  new ConnectionClient(origin, context, options);
