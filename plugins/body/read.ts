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

/** A larger body is read at once: by the end of the turn other bodies would have driven it out of the caches. */
const MAX_BATCHED = 16 * 1024;

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
  return collect(req, { cancellation: exchange.cancellation, announced: room }, (size) => {
    if (size > limits.body) return tooLarge(limits.body);
    if (size <= room) return undefined;
    const noRoom = limits.reserve(exchange, size - room);
    if (!noRoom) room = size;
    return noRoom;
  });
}

interface Collecting {
  readonly cancellation: Cancellation;
  /** The size that the client announced, in bytes; 0 if it did not. */
  readonly announced: number;
}

/** @param refusal returns the error for a body of this size, if it is not allowed */
function collect(
  req: IncomingMessage,
  { cancellation, announced }: Collecting,
  refusal: (size: number) => GatewayError | undefined,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const body = announced > MAX_PIECES ? new WholeBody(announced, req) : new BodyPieces();
    let size = 0;
    let stopListening = (): void => {};
    const onData = (piece: Buffer): void => {
      size += piece.length;
      const refused = refusal(size);
      if (!refused) return body.add(piece, req);
      req.pause();
      fail(refused);
    };
    // The listeners stay: nothing follows the end of a body, and removing them costs more than adding them.
    const onEnd = (): void => {
      stopListening();
      const bytes = withoutMark(body.bytes());
      if (bytes.length > MAX_BATCHED) resolve(bytes);
      else arrived.add({ bytes, resolve });
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

/** Up to this size a body is one or two network reads, and their copy is garbage that dies young. */
const MAX_PIECES = 64 * 1024;

/** A small body, or one of unknown size. */
class BodyPieces {
  readonly #pieces: Buffer[] = [];

  add(piece: Buffer): void {
    this.#pieces.push(piece);
  }

  bytes(): Buffer {
    return this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces);
  }
}

/** The part of a body that has to arrive before memory is taken for the whole. */
const PROVEN_PART = 1 / 8;

/**
 * A body of an announced size. Each piece is copied to its place and its memory freed at once: the garbage collector
 * counts memory outside the heap, and marks the whole heap after 32 MB of pieces (measured: half of the CPU of a body of
 * 1 MB). For the same reason an announcement alone takes none (measured: 6 ms of CPU for 40 MB that never came).
 */
class WholeBody {
  readonly #announced: number;
  /** No other listener has had a piece: it may have kept one, even if it has left the list. */
  #isOwn: boolean;
  #bytes: Buffer | undefined;
  #pieces: Buffer[] = [];
  #size = 0;

  /** Created before the body's own listeners are added to the request. */
  constructor(announced: number, req: IncomingMessage) {
    this.#announced = announced;
    this.#isOwn = readersOf(req) === 0;
  }

  add(piece: Buffer, req: IncomingMessage): void {
    this.#isOwn &&= readersOf(req) === 1;
    if (this.#bytes) return this.#move(piece, this.#bytes);
    this.#pieces.push(piece);
    this.#size += piece.length;
    if (this.#size < this.#announced * PROVEN_PART) return;
    this.#bytes = Buffer.allocUnsafeSlow(this.#announced);
    this.#size = 0;
    for (const early of this.#pieces) this.#move(early, this.#bytes);
    this.#pieces = [];
  }

  bytes(): Buffer {
    return this.#bytes?.subarray(0, this.#size) ?? Buffer.concat(this.#pieces);
  }

  #move(piece: Buffer, to: Buffer): void {
    this.#size += piece.copy(to, this.#size);
    // Memory that the piece shares with others is not its own.
    const { buffer } = piece;
    if (this.#isOwn && buffer instanceof ArrayBuffer && buffer.byteLength === piece.length) buffer.transfer(0);
  }
}

/** Listeners that get pieces. `read()` returns a piece to a listener of `readable` after `data` has had it. */
const readersOf = (req: IncomingMessage): number => req.listenerCount('data') + req.listenerCount('readable');

function tooLarge(limit: number): GatewayError {
  return new GatewayError('request_too_large', `The body exceeds ${limit} bytes (limits.body).`);
}

const MARK = Buffer.from('\ufeff');
/** A byte order mark has no meaning in UTF-8; RFC 8259, section 8.1, lets a parser ignore it. */
const withoutMark = (bytes: Buffer): Buffer =>
  bytes[0] === MARK[0] && MARK.equals(bytes.subarray(0, 3)) ? bytes.subarray(3) : bytes;
