import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

/** A request as it stood on the wire, and the connection to answer on. */
export interface SeenRequest {
  readonly socket: Socket;
  /** Counts from 0 over all connections. */
  readonly number: number;
  /** Which connection, from 0. */
  readonly connection: number;
  /** Which request of that connection, from 0. */
  readonly turn: number;
  readonly head: string;
  readonly body: string;
}

export interface ScriptedUpstream {
  readonly url: string;
  readonly port: number;
  readonly requests: SeenRequest[];
  /** Connections ever made. */
  connections: number;
  /** Connections that stand. */
  readonly open: Set<Socket>;
  close(): Promise<void>;
}

export type Script = (request: SeenRequest) => void;

/** An upstream that answers with whatever bytes, pauses and breaks a test writes. */
export async function startUpstream(script: Script, tls?: TlsOptions): Promise<ScriptedUpstream> {
  const upstream = { requests: [] as SeenRequest[], connections: 0, open: new Set<Socket>() };
  const accept = (socket: Socket) => serve(socket, upstream, script);
  const server: Server = tls ? createTlsServer(tls, accept) : createServer(accept);
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(upstream, {
    port,
    url: `http${tls ? 's' : ''}://127.0.0.1:${port}`,
    async close() {
      for (const socket of upstream.open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

function serve(socket: Socket, upstream: Omit<ScriptedUpstream, 'url' | 'port' | 'close'>, script: Script): void {
  const connection = upstream.connections;
  upstream.connections += 1;
  upstream.open.add(socket);
  let turn = 0;
  let text = '';
  socket.on('error', () => {});
  socket.on('close', () => upstream.open.delete(socket));
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1');
    for (;;) {
      const end = text.indexOf('\r\n\r\n');
      if (end < 0) return;
      const head = text.slice(0, end);
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (text.length < end + 4 + length) return;
      const body = text.slice(end + 4, end + 4 + length);
      text = text.slice(end + 4 + length);
      const request = { socket, connection, turn, head, body, number: upstream.requests.length };
      turn += 1;
      upstream.requests.push(request);
      script(request);
    }
  });
}

/** A whole answer with its length. */
export function answer(socket: Socket, status: number, body: string | Buffer, headers = ''): void {
  const bytes = Buffer.from(body);
  socket.write(`HTTP/1.1 ${status} Whatever\r\ncontent-length: ${bytes.length}\r\n${headers}\r\n`);
  socket.write(bytes);
}

/** Headers of a stream; `chunk` and `lastChunk` follow. */
export function openStream(socket: Socket, headers = 'content-type: text/event-stream\r\n'): void {
  socket.write(`HTTP/1.1 200 OK\r\n${headers}transfer-encoding: chunked\r\n\r\n`);
}

export function chunk(socket: Socket, body: string | Buffer): boolean {
  const bytes = Buffer.from(body);
  return socket.write(Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]));
}

export function lastChunk(socket: Socket): void {
  socket.write('0\r\n\r\n');
}
