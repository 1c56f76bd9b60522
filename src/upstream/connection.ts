import type { Socket } from 'node:net';
import { Client, type buildConnector, type Dispatcher } from 'undici';
import type { GatewayError } from '../plugin/index.ts';
import { Dial, type DialContext } from './dial.ts';

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
