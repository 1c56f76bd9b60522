import type { IncomingMessage } from 'node:http';
import { GatewayError, type Cancellation, type GatewayContext, type RequestLimits } from '../../src/plugin/index.ts';

/** The bytes of a request's body: no more than one may have, nor than all requests may hold together. */
export async function readBody({ req, res, exchange }: GatewayContext, limits: RequestLimits): Promise<Buffer> {
  // Of what is announced room is taken at once; what is not announced takes it as it comes.
  let room = Number(req.headers['content-length'] ?? 0);
  if (room > limits.body) throw tooLarge(limits.body);
  const refused = limits.reserve(exchange, room);
  if (refused) throw refused;
  // RFC 9110, section 10.1.1: a client with a large body may wait to hear that it is wanted.
  if (req.headers.expect !== undefined) res.writeContinue();
  const bytes = await collect(req, exchange.cancellation, (size) => {
    if (size > limits.body) return tooLarge(limits.body);
    if (size <= room) return undefined;
    const noRoom = limits.reserve(exchange, size - room);
    if (!noRoom) room = size;
    return noRoom;
  });
  return withoutMark(bytes);
}

/** @param refusal why a body of so many bytes may not go on */
function collect(
  req: IncomingMessage,
  cancellation: Cancellation,
  refusal: (size: number) => GatewayError | undefined,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let size = 0;
    let stopListening = (): void => {};
    const settle = (outcome: () => void): void => {
      req.off('data', onData).off('end', onEnd).off('error', onGone);
      stopListening();
      outcome();
    };
    const onData = (piece: Buffer): void => {
      size += piece.length;
      const refused = refusal(size);
      if (!refused) return void pieces.push(piece);
      settle(() => {
        req.pause();
        reject(refused);
      });
    };
    const onEnd = (): void => settle(() => resolve(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)));
    const onGone = (): void =>
      settle(() => reject(new GatewayError('client_closed', 'The client left while it sent its body.')));
    req.on('data', onData).on('end', onEnd).on('error', onGone);
    // Calls at once for a client that has left already.
    stopListening = cancellation.onCancel((reason) => settle(() => reject(reason)));
  });
}

function tooLarge(limit: number): GatewayError {
  return new GatewayError('request_too_large', `The body exceeds ${limit} bytes (limits.body).`);
}

const MARK = Buffer.from('\ufeff');
/** A byte order mark says nothing in UTF-8; RFC 8259, section 8.1, lets a parser pass over it. */
const withoutMark = (bytes: Buffer): Buffer => (MARK.equals(bytes.subarray(0, 3)) ? bytes.subarray(3) : bytes);
