import { type ClientRequest, type Server, request, type IncomingMessage } from 'node:http';
import { lendKey } from '../../../core/settings/compile/lent-keys.ts';
import { messageOf } from '../../../core/kernel/outside/thrown.ts';
import type { Piece } from './long-answers.ts';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { isSecure } from '../../../core/http/listener/secure-server.ts';

/** A request in the name of a key. Plain: it goes to a worker. */
export interface PlayQuestion extends LocalCall {
  readonly id: string;
  readonly as: string;
}

/** Headers of a reply that are about its connection. */
const OF_THE_WIRE: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'set-cookie',
]);

/** Sends requests in the name of keys through the request path of this process. Limits and budgets of the key count. */
export class Playground {
  readonly #server: () => Server | undefined;
  readonly #tell: (piece: Piece) => void;
  /** Undefined: it has no connection yet. */
  readonly #running = new Map<string, ClientRequest | undefined>();

  constructor(server: () => Server | undefined, tell: (piece: Piece) => void) {
    this.#server = server;
    this.#tell = tell;
  }

  /** Resolves when the reply has ended. Never rejects. */
  async run({ id, as, method, path, headers, body }: PlayQuestion): Promise<void> {
    const key = lendKey(as);
    const server = this.#server();
    this.#running.set(id, undefined);
    try {
      if (!key || !server) throw new Error('too many requests of the playground are under way');
      const own = { ...headers, 'x-request-id': `playground-${id}`, authorization: `Bearer ${key.secret}` };
      const call = await callLocally(server, { method, path, headers: own, body });
      if (!this.#running.has(id)) call.destroy();
      else this.#running.set(id, call);
      const reply = await replyOf(call);
      const shown = Object.entries(reply.headers).flatMap(([name, value]) =>
        OF_THE_WIRE.has(name) || value === undefined ? [] : [[name, [value].flat().join(', ')]],
      );
      this.#tell({
        id,
        head: { status: reply.statusCode ?? 0, headers: Object.fromEntries(shown) as Record<string, string> },
      });
      for await (const bytes of reply as AsyncIterable<Buffer>) this.#tell({ id, bytes: bytes.toString('base64') });
      this.#tell({ id, end: true });
    } catch (error) {
      this.#tell({ id, failed: messageOf(error) });
    } finally {
      this.#running.delete(id);
      key?.end();
    }
  }

  /** The gateway ends the call of the upstream, as for any client that leaves. */
  stop(id: string): void {
    const call = this.#running.get(id);
    if (call) call.destroy();
    else this.#running.delete(id);
  }
}

interface LocalCall {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/**
 * Sends a request to the listener of applications of this process, over a connection of its own: another process that shares the port does
 * not know the key that was lent for it. The connection is plain, also where the listener has TLS.
 */
async function callLocally(server: Server, { method, path, headers, body }: LocalCall): Promise<ClientRequest> {
  const socket = await connectTo(server);
  const all = {
    host: '127.0.0.1',
    connection: 'close',
    ...headers,
    ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
  };
  const call = request({ createConnection: () => socket, method, path, headers: all });
  call.end(body);
  return call;
}

const replyOf = (call: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    call.once('response', resolve).once('error', reject);
  });

function connectTo(server: Server): Promise<Socket> {
  return new Promise((resolve, reject) => {
    // For one connection, whose other end is this process.
    const door = createServer((arrived) => {
      door.close();
      if (arrived.remotePort !== socket.localPort) return void arrived.destroy();
      server.emit(isSecure(server) ? 'secureConnection' : 'connection', arrived);
      resolve(socket);
    });
    let socket: Socket;
    door.once('error', reject).listen(0, '127.0.0.1', () => {
      // A listening server has an address.
      socket = connect((door.address() as AddressInfo).port, '127.0.0.1').once('error', (error) => {
        door.close();
        reject(error);
      });
    });
  });
}
