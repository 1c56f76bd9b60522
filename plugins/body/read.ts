import type { IncomingMessage } from 'node:http';
import {
  GatewayError,
  LoopBatch,
  type Cancellation,
  type GatewayContext,
  type RequestLimits,
} from '../../src/plugin/index.ts';

interface ArrivedBody {
  readonly bytes: Buffer;
  resolve(bytes: Buffer): void;
}

/** The chains of requests whose bodies arrive together run together. */
const arrived = new LoopBatch<ArrivedBody>(({ bytes, resolve }) => resolve(bytes));

/**
 * Reads the bytes of a request's body, within the limits of one body and of all requests together. Throws GatewayError.
 */
export function readBody({ req, res, exchange }: GatewayContext, limits: RequestLimits): Promise<Buffer> {
  // The announced size is reserved at once; an unannounced size is reserved as the bytes arrive.
  let room = Number(req.headers['content-length'] ?? 0);
  if (room > limits.body) throw tooLarge(limits.body);
  const refused = limits.reserve(exchange, room);
  if (refused) throw refused;
  // RFC 9110, section 10.1.1: a client with a large body may wait for a 100 reply before it sends.
  if (req.headers.expect !== undefined) res.writeContinue();
  return collect(req, exchange.cancellation, (size) => {
    if (size > limits.body) return tooLarge(limits.body);
    if (size <= room) return undefined;
    const noRoom = limits.reserve(exchange, size - room);
    if (!noRoom) room = size;
    return noRoom;
  });
}

/** @param refusal returns the error for a body of this size, if it is not allowed */
function collect(
  req: IncomingMessage,
  cancellation: Cancellation,
  refusal: (size: number) => GatewayError | undefined,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let size = 0;
    let stopListening = (): void => {};
    const onData = (piece: Buffer): void => {
      size += piece.length;
      const refused = refusal(size);
      if (!refused) return void pieces.push(piece);
      req.pause();
      fail(refused);
    };
    // The listeners stay: nothing follows the end of a body, and removing them costs more than adding them.
    const onEnd = (): void => {
      stopListening();
      arrived.add({ bytes: withoutMark(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)), resolve });
    };
    const fail = (error: GatewayError): void => {
      req.off('data', onData).off('end', onEnd).off('error', onGone);
      stopListening();
      reject(error);
    };
    const onGone = (): void =>
      fail(new GatewayError('client_closed', 'The client disconnected while it sent its body.'));
    req.on('data', onData).on('end', onEnd).on('error', onGone);
    // Calls back at once when the client has already disconnected.
    stopListening = cancellation.onCancel(fail);
  });
}

function tooLarge(limit: number): GatewayError {
  return new GatewayError('request_too_large', `The body exceeds ${limit} bytes (limits.body).`);
}

const MARK = Buffer.from('\ufeff');
/** A byte order mark has no meaning in UTF-8; RFC 8259, section 8.1, lets a parser ignore it. */
const withoutMark = (bytes: Buffer): Buffer =>
  bytes[0] === MARK[0] && MARK.equals(bytes.subarray(0, 3)) ? bytes.subarray(3) : bytes;
