import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock, Reply } from '../../../plugin/index.ts';
import type { Exchange } from '../../kernel/index.ts';

/** Reading a rest of up to this size costs less than a new connection. */
const CHEAP_REST = 1024 * 1024;

/** Limits of reading a larger rest. */
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_MS = 30_000;
/** A client that writes nothing for this long waits for the gateway, and has had the time to read its reply. */
const SILENT_MS = 5000;
/** A client without a known key has this long for its rest. */
const STRANGER_MS = 5000;

/** Clients with these errors have used up their time: their connections close. */
const TOO_SLOW: ReadonlySet<string> = new Set(['request_timeout', 'body_too_slow']);

const ignore = (): void => {};

interface Unread {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

/**
 * For a reply that leaves before all of its request has arrived. A cheap rest is read and dropped, and the connection
 * goes on. Else it closes, but not with the reply: unread bytes would reset it, and the client would lose the reply
 * (RFC 9112, section 9.6). The exchange ends with its reply, so a rest takes no place among the requests in flight.
 */
export function endUnread({ req, res }: Unread, reply: Reply, { error, caller }: Exchange, clock: Clock): void {
  // node:http drops the body of a request that nothing has read, however long it is. A read of no bytes prevents that.
  req.read(0);
  const { socket } = req;
  let lingers = false;
  // node:http calls it behind the last reply of a connection.
  socket.destroySoon = () => {
    if (req.complete) return closeSoon(socket);
    lingers = true;
    linger(req, clock);
  };
  res.once('finish', () => {
    if (!lingers) drop(req);
  });
  if (!caller) {
    const stop = clock.after(STRANGER_MS, () => socket.destroy());
    req.once('end', stop);
  }
  if (!isCheap(req) || TOO_SLOW.has(error?.code ?? '')) reply.headers['connection'] = 'close';
}

const isCheap = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= CHEAP_REST;

function drop(req: IncomingMessage): void {
  req.removeAllListeners('data').removeAllListeners('readable').on('error', ignore).resume();
}

/** Sends the end of the connection, and reads on until the client ends too, stops writing, or exceeds a limit. */
function linger(req: IncomingMessage, clock: Clock): void {
  const { socket } = req;
  const latest = clock.now() + MOST_MS;
  let bytes = 0;
  let seen = -1;
  let stop = ignore;
  const look = (): void => {
    if (bytes === seen || clock.now() >= latest) return void socket.destroy();
    seen = bytes;
    stop = clock.after(SILENT_MS, look);
  };
  look();
  socket.once('close', () => stop());
  socket.end();
  drop(req);
  req.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > MOST_BYTES) socket.destroy();
  });
  // All bytes of the client have been read, so this is no reset: the kernel still sends what it has.
  req.once('end', () => closeSoon(socket));
}

function closeSoon(socket: Socket): void {
  socket.end();
  if (socket.writableFinished) socket.destroy();
  else socket.once('finish', () => socket.destroy());
}
