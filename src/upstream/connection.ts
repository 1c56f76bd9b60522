import { isIPv6, type Socket } from 'node:net';
import { Client, type buildConnector, type Dispatcher } from 'undici';
import { toGatewayError, UpstreamError, type Clock, type GatewayError } from '../plugin/index.ts';
import { permittedAddresses, type Lookup } from './egress.ts';
import { causeOf, outOfSockets, toTlsError } from './faults.ts';

/** RFC 8305, section 5: the recommended delay before the next address is tried in parallel with a silent one. */
const ATTEMPT_DELAY_MS = 250;

/** The transport of connections: the network, or memory in config tests. */
export interface Wire {
  /** @param to a checked address, and the name that resolved to it */
  connect(to: { readonly host: string; readonly port: number; readonly hostname: string }): Socket;
  /** Starts TLS on the given socket. */
  readonly secure: buildConnector.connector;
}

/** The part of a dial that is the same for all connections of a pool. */
export interface DialContext {
  readonly clock: Clock;
  readonly lookup: Lookup;
  readonly allowInsecure: boolean;
  readonly metadataServer: boolean;
  readonly chosenByCaller: boolean;
  readonly wire: Wire;
}

const ignore = (): void => {};

type Done = (error: GatewayError | undefined, socket?: Socket) => void;

/**
 * Opens one connection: lookup, address check, connect to a checked address, then TLS for the requested name.
 * Attempts to several addresses run in parallel; each starts when the previous one has failed or has been silent for a while. Node's
 * own `autoSelectFamily` gives every attempt except the last only that delay, which is too short for far regions.
 * The dial has no timeout: the waiting request has one, and abandons the dial when it passes.
 */
class Dial {
  readonly #context: DialContext;
  readonly #target: buildConnector.Options;
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
    this.#done = done;
  }

  async start(): Promise<void> {
    const { allowInsecure, metadataServer, chosenByCaller, lookup } = this.#context;
    try {
      this.#addresses = await permittedAddresses(this.#target.hostname, allowInsecure, lookup, metadataServer);
    } catch (error) {
      const own = error instanceof Error ? outOfSockets(error.cause, this.#host) : undefined;
      this.#finish(own ?? (chosenByCaller && !allowInsecure ? unreported(error, this.#host) : toGatewayError(error)));
      return;
    }
    if (!this.#over) this.#attempt();
  }

  abandon(reason: GatewayError): void {
    this.#finish(reason);
    this.#raw?.destroy();
  }

  get #host(): string {
    const { hostname } = this.#target;
    return `${isIPv6(hostname) ? `[${hostname}]` : hostname}:${this.#port}`;
  }

  get #port(): number {
    const { port, protocol } = this.#target;
    if (port !== '') return Number(port);
    return protocol === 'https:' ? 443 : 80;
  }

  #attempt(): void {
    this.#stopWaiting?.();
    const address = this.#addresses[this.#next];
    if (address === undefined) return;
    this.#next += 1;
    // An address literal, so there is no second lookup.
    const socket = this.#context.wire.connect({ host: address, port: this.#port, hostname: this.#target.hostname });
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
        new UpstreamError('connection_failed', `No connection to ${this.#host}${causeOf(error)}.`, { cause: error }),
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
    if (this.#target.protocol === 'https:') this.#handshake(socket);
    else this.#finish(undefined, socket.setKeepAlive(true, 60_000));
  }

  #handshake(raw: Socket): void {
    this.#raw = raw;
    this.#context.wire.secure({ ...this.#target, httpSocket: raw }, (...[error, socket]) => {
      if (error) {
        raw.destroy();
        this.#finish(toTlsError(error, this.#host));
      } else if (this.#over) socket.destroy();
      else this.#finish(undefined, socket);
    });
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

/**
 * Callers who may choose the host, but no internal address, get the same error for a name that resolves to an internal address and
 * for one that does not resolve. Otherwise they could map the internal network name by name.
 */
const unreported = (cause: unknown, host: string): UpstreamError =>
  new UpstreamError(
    'egress_refused',
    `${host} cannot be reached: it has no address, or only addresses that callers may not choose (custom_hosts.allow_insecure).`,
    { cause },
  );

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

  /** undici's connector for this slot. */
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

/** A request that is notified of its connection. */
interface Passenger {
  board(connection: Connection): void;
}

const isPassenger = (handler: Dispatcher.DispatchHandler): handler is Dispatcher.DispatchHandler & Passenger =>
  'board' in handler;

/** undici's client of one connection, which notifies each request of the connection. */
class ConnectionClient extends Client {
  readonly #connection: Connection;

  constructor(origin: URL, options: Client.Options, connection: Connection) {
    super(origin, options);
    this.#connection = connection;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (isPassenger(handler)) handler.board(this.#connection);
    return super.dispatch(options, handler);
  }
}

export function createClient(origin: URL, options: Client.Options, context: DialContext): Client {
  const connection = new Connection(context);
  return new ConnectionClient(origin, { ...options, connect: connection.connect }, connection);
}
