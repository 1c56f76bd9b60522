import { STATUS_CODES, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Format } from '../../formats/format.ts';
import { errorReply, GatewayError, type Clock } from '../../plugin/index.ts';
import { uuidv7 } from '../../plugin/ids.ts';

/** How long a client that was not understood may take to read why. */
const LINGER_MS = 5000;

interface RefusalSetup {
  readonly format: Format;
  readonly clock: Clock;
  /** Bytes of request headers. */
  readonly headerLimit: number;
  /** Lets the request's own chain refuse it, where that has begun and nothing has left yet. False: it has not. */
  readonly interrupt: (res: ServerResponse, refused: GatewayError) => boolean;
}

/**
 * Requests that node:http gives up on before anything of ours runs get an answer that clients can read, too: the same error
 * shape, a code, an id. Node's own answers have no body. https://nodejs.org/api/http.html#event-clienterror
 */
export function answerRefusals(server: Server, setup: RefusalSetup): void {
  const replies = new WeakMap<Duplex, ServerResponse>();
  /** Connections with an answer that waits for its turn: Node tells of every further read. */
  const ending = new WeakSet<Duplex>();
  server.prependListener('request', (req, res) => replies.set(req.socket, res));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (ending.has(socket)) return;
    if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
    const refused = refusalOf(error, setup.headerLimit);
    const reply = replies.get(socket);
    if (!reply || reply.writableFinished) return refuse(socket, refused, setup);
    if (!reply.req.complete) return breakOff(reply, refused, { socket, setup });
    // The head of the next request waits until this connection is read again.
    if (refused.code === 'request_timeout' && socket.isPaused()) return;
    // Replies leave in the order of their requests (RFC 9112, section 9.3.2).
    ending.add(socket);
    reply.once('close', () => refuse(socket, refused, setup));
  });
}

/** The body of a request breaks. A reply that has begun, or is not the next to leave, has no place for another answer. */
function breakOff(
  reply: ServerResponse,
  refused: GatewayError,
  { socket, setup }: { readonly socket: Duplex; readonly setup: RefusalSetup },
): void {
  const isNext = reply.socket !== null;
  if (reply.headersSent) return void socket.destroy();
  // A body that stalls: its request has an id, a format and a record.
  if ((refused.code === 'request_timeout' || !isNext) && setup.interrupt(reply, refused)) return;
  if (isNext) refuse(socket, refused, setup);
  else socket.destroy();
}

function refuse(socket: Duplex, refused: GatewayError, { format, clock }: RefusalSetup): void {
  if (!socket.writable) return void socket.destroy();
  const { status, headers, body } = errorReply(refused, format, uuidv7(clock.wall()));
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const text = Buffer.isBuffer(body) ? body.toString() : '';
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}connection: close\r\n\r\n${text}`);
  // Closing at once would reset the connection while the client still writes, and take the answer with it (RFC 9112, 9.6).
  const stop = clock.after(LINGER_MS, () => socket.destroy());
  socket.once('close', stop).resume();
}

function refusalOf({ code = '', message }: NodeJS.ErrnoException, headerLimit: number): GatewayError {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new GatewayError('headers_too_large', `The request headers exceed ${headerLimit} bytes (limits.header).`);
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new GatewayError('request_timeout', 'The request did not arrive whole in time.');
  return new GatewayError(
    'malformed_request',
    `The request is not valid HTTP: ${message.replace(/^Parse Error: /, '')}.`,
  );
}
