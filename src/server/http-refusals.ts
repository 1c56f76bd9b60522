import { STATUS_CODES, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Format } from '../formats/format.ts';
import { errorReply, GatewayError, type Clock } from '../plugin/index.ts';
import { uuidv7 } from './ids.ts';

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
export function answerRefusals(server: Server, { format, clock, headerLimit, interrupt }: RefusalSetup): void {
  const replies = new WeakMap<Duplex, ServerResponse>();
  server.prependListener('request', (req, res) => replies.set(req.socket, res));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const reply = replies.get(socket);
    const underWay = reply !== undefined && reply.headersSent && !reply.writableFinished;
    if (!socket.writable || underWay || error.code === 'ECONNRESET') return void socket.destroy();
    const refused = refusalOf(error, headerLimit);
    // A body that stalls: its request has an id, a format and a record.
    if (reply && refused.code === 'request_timeout' && interrupt(reply, refused)) return;
    const { status, headers, body } = errorReply(refused, format, uuidv7(clock.wall()));
    const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const text = Buffer.isBuffer(body) ? body.toString() : '';
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}connection: close\r\n\r\n${text}`);
    // Closing at once would reset the connection while the client still writes, and take the answer with it (RFC 9112, 9.6).
    const stop = clock.after(LINGER_MS, () => socket.destroy());
    socket.once('close', stop).resume();
  });
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
