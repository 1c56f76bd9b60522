import { request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import { MemorySocket, type Traffic } from './memory-socket.ts';

export interface ClientRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export interface ClientReply {
  /** 0: the connection ended without a reply. */
  status: number;
  headers: Record<string, string>;
  text: string;
  whole: boolean;
  over: boolean;
}

/** Performs one HTTP/1.1 exchange with a server that does not listen. */
export function ask(server: Server, traffic: Traffic, { method, path, headers, body }: ClientRequest): ClientReply {
  const reply: ClientReply = { status: 0, headers: {}, text: '', whole: false, over: false };
  const [near, far] = MemorySocket.pair(traffic);
  server.emit('connection', far);
  const request = httpRequest({
    createConnection: () => near,
    method,
    path,
    headers: { host: 'gatehouse.test', ...headers },
    setDefaultHeaders: true,
  });
  request.on('response', (response) => receive(response, reply));
  request.on('error', () => (reply.over = true));
  request.end(body);
  return reply;
}

function receive(response: IncomingMessage, reply: ClientReply): void {
  const pieces: Buffer[] = [];
  reply.status = response.statusCode ?? 0;
  reply.headers = headersOf(response);
  response.on('data', (piece: Buffer) => pieces.push(piece));
  response.on('error', () => {});
  response.on('close', () => {
    reply.text = Buffer.concat(pieces).toString();
    reply.whole = response.complete;
    reply.over = true;
  });
}

/** They belong to the connection, or tell the time of day where the test runs. */
export const LEFT_OUT: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding', 'date']);

const headersOf = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || LEFT_OUT.has(name) ? [] : [[name, [value].flat().join(', ')]],
    ),
  );
