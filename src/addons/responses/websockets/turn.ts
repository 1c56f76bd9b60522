import { IncomingMessage, ServerResponse, type IncomingHttpHeaders } from 'node:http';
import { passCertificate } from '../../../core/http/gateway/client-certificate.ts';
import type { createRequestPath } from '../../../core/http/gateway/request-path.ts';
import type { Incoming, Routed } from '../../../core/http/gateway/request-scope.ts';
import type { ClientCertificate } from '../../../core/kernel/index.ts';
import { ReplySocket, type ReplySink } from './reply-socket.ts';

export type Handle = ReturnType<typeof createRequestPath>;
export type Koa = (req: IncomingMessage, res: ServerResponse) => ReturnType<Incoming['koa']>;

/** The handshake of a socket, whose headers are those of all its turns. */
export interface Handshake {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly remoteAddress: string | undefined;
  readonly certificate?: ClientCertificate | undefined;
}

interface SocketRequest {
  readonly method: 'GET' | 'POST';
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer | undefined;
  readonly routed: Routed;
}

export interface Running {
  /** The client has left, or its socket closes. */
  abort(): void;
}

/** Sends a request of a socket through the path of all requests. `sink` receives its response. */
export function runRequest(
  { url, remoteAddress, certificate }: Omit<Handshake, 'headers'>,
  { method, headers, body, routed }: SocketRequest,
  { handle, koa, sink }: { readonly handle: Handle; readonly koa: Koa; readonly sink: ReplySink },
): Running {
  const socket = new ReplySocket(remoteAddress, sink);
  passCertificate(certificate, socket);
  // A response to HTTP/1.0 has no framing, which would only be removed again.
  const req = Object.assign(new IncomingMessage(socket), {
    method,
    url,
    headers,
    httpVersion: '1.0',
    httpVersionMajor: 1,
    httpVersionMinor: 0,
    complete: true,
  });
  const res = new ServerResponse(req);
  const running = respond(socket, { req, res, koa: () => koa(req, res) }, { handle, routed });
  // As with a connection, the body comes when the path has begun.
  if (body) req.push(body);
  req.push(null);
  return running;
}

/** Runs the path with a response that leaves through the socket. */
export function respond(
  socket: ReplySocket,
  incoming: Incoming,
  { handle, routed }: { readonly handle: Handle; readonly routed: Routed },
): Running {
  const { res } = incoming;
  // Koa's initial status of an unanswered request.
  res.statusCode = 404;
  res.shouldKeepAlive = false;
  res.assignSocket(socket);
  res.on('finish', () => socket.finish());
  // On a connection, the server of node:http passes this event on; the writer of the reply waits for it.
  socket.on('drain', () => res.emit('drain'));
  void handle(incoming, routed);
  return { abort: () => void socket.destroy() };
}

/** Headers that belong to the handshake only, and the request id: each turn has its own. */
const HANDSHAKE_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'upgrade',
  'expect',
  'te',
  'trailer',
  'transfer-encoding',
  'content-encoding',
  'x-request-id',
]);

export function turnHeaders({ headers }: Handshake, bytes: number): IncomingHttpHeaders {
  const kept = Object.entries(headers).filter(
    ([name]) => !HANDSHAKE_HEADERS.has(name) && !name.startsWith('sec-websocket-'),
  );
  return { ...Object.fromEntries(kept), 'content-type': 'application/json', 'content-length': String(bytes) };
}
