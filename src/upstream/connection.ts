import type { Socket } from 'node:net';
import { Client, type buildConnector, type Dispatcher } from 'undici';
import type { GatewayError } from '../plugin/index.ts';
import { Dial, type DialContext } from './dial.ts';

/** One place for a connection in a pool: made, used, lost and made again. */
export class Connection {
  /** Replies the present connection has brought to their end. */
  served = 0;
  readonly #context: DialContext;
  #dial: Dial | undefined;
  #socket: Socket | undefined;

  constructor(context: DialContext) {
    this.#context = context;
  }

  /** undici's connector for this place. */
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

  /** Nobody waits for this connection any more. undici then takes the place out of the pool. */
  abandonDial(reason: GatewayError): void {
    this.#dial?.abandon(reason);
  }

  /** Makes the next request on this place connect anew. */
  drop(): void {
    this.#socket?.destroy();
  }
}

/** A request that learns on which connection it runs. */
interface Passenger {
  board(connection: Connection): void;
}

const isPassenger = (handler: Dispatcher.DispatchHandler): handler is Dispatcher.DispatchHandler & Passenger =>
  'board' in handler;

/** undici's client of one connection, which tells a request where it runs. */
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
