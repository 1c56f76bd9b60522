import { request, type ClientRequest, type IncomingMessage, type Server } from 'node:http';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { isSecure } from '../../../core/http/listener/secure-server.ts';

export interface LocalCall {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/**
 * Sends a request to the listener of applications of this process, over a connection of its own: another process that shares the port does
 * not know the key that was lent for it. The connection is plain, also where the listener has TLS.
 */
export async function callLocally(server: Server, { method, path, headers, body }: LocalCall): Promise<ClientRequest> {
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

export const replyOf = (call: ClientRequest): Promise<IncomingMessage> =>
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
