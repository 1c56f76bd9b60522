import type { IncomingMessage } from 'node:http';
import {
  addPiece,
  GatewayError,
  LoopBatch,
  type Cancellation,
  type GatewayContext,
  type RequestLimits,
} from '../../src/plugin/index.ts';
import { freeAtEnd, freeMemory } from './memory.ts';

interface ArrivedBody {
  readonly bytes: Buffer;
  resolve(bytes: Buffer): void;
}

/**
 * The largest body that waits for the end of the turn, in bytes. A larger one goes on at once: other bodies would have
 * driven its bytes out of the processor's caches by then.
 */
const MAX_BATCHED = 16 * 1024;

/** Bodies that arrive in one turn of the event loop: their requests go on together. */
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
  const { builtInOnly = false } = limits;
  const onWhole = (bytes: Buffer): void => {
    if (builtInOnly) freeAtEnd(exchange, bytes);
  };
  const { cancellation } = exchange;
  return collect(req, { cancellation, announced: room, freesPieces: builtInOnly, onWhole }, (size) => {
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
  /** No other reader of the request keeps pieces of its body. */
  readonly freesPieces: boolean;
  /** Called with a body that has memory of its own. */
  onWhole(bytes: Buffer): void;
}

/** @param refusal returns the error for a body of this size; undefined if the size is allowed */
function collect(
  req: IncomingMessage,
  { cancellation, announced, freesPieces, onWhole }: Collecting,
  refusal: (size: number) => GatewayError | undefined,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const body = announced > MAX_PIECES ? new WholeBody(announced, freesPieces) : new BodyPieces();
    let size = 0;
    let stopListening = (): void => {};
    const onData = (piece: Buffer): void => {
      size += piece.length;
      const refused = refusal(size);
      if (!refused) return body.add(piece);
      req.pause();
      fail(refused);
    };
    // The listeners stay: nothing follows the end of a body, and removing them costs more than adding them.
    const onEnd = (): void => {
      stopListening();
      const whole = body.bytes();
      if (announced > MAX_PIECES) onWhole(whole);
      const bytes = withoutMark(whole);
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

/**
 * The largest announced size, in bytes, of a body that is kept in pieces. Such a body is one or two network reads. The
 * garbage collector frees its pieces and their joined copy cheaply, because both are short-lived.
 */
const MAX_PIECES = 64 * 1024;

const EMPTY = Buffer.alloc(0);

/** A small body, or one of unknown size. */
class BodyPieces {
  #first: Buffer | undefined;
  #others: Buffer[] | undefined;

  add(piece: Buffer): void {
    if (!this.#first) this.#first = piece;
    else addPiece((this.#others ??= []), piece);
  }

  /** The bytes, which are not kept here: the listeners of a request live as long as its reply. */
  bytes(): Buffer {
    const first = this.#first ?? EMPTY;
    const bytes = this.#others ? Buffer.concat([first, ...this.#others]) : first;
    this.#first = this.#others = undefined;
    return bytes;
  }
}

/** The part of a body that has to arrive before memory for the whole body is allocated. */
const PROVEN_PART = 1 / 8;

/**
 * A body of an announced size. Each piece is copied to its place at once, so that its memory may be freed while the rest
 * of the body arrives. An announcement alone allocates nothing, because V8 counts that memory (measured: 6 ms of CPU for
 * 40 MB that never came).
 */
class WholeBody {
  readonly #announced: number;
  readonly #freesPieces: boolean;
  #bytes: Buffer | undefined;
  #pieces: Buffer[] = [];
  #size = 0;

  constructor(announced: number, freesPieces: boolean) {
    this.#announced = announced;
    this.#freesPieces = freesPieces;
  }

  add(piece: Buffer): void {
    this.#size += piece.length;
    if (this.#bytes) {
      this.#move(piece, this.#bytes, this.#size - piece.length);
      return;
    }
    addPiece(this.#pieces, piece);
    if (this.#size < this.#announced * PROVEN_PART) return;
    this.#bytes = Buffer.allocUnsafeSlow(this.#announced);
    let at = 0;
    for (const early of this.#pieces) at += this.#move(early, this.#bytes, at);
    this.#pieces = [];
  }

  #move(piece: Buffer, to: Buffer, at: number): number {
    const size = piece.copy(to, at);
    if (this.#freesPieces) freeMemory(piece);
    return size;
  }

  bytes(): Buffer {
    const bytes = this.#bytes?.subarray(0, this.#size) ?? Buffer.concat(this.#pieces);
    this.#bytes = undefined;
    this.#pieces = [];
    return bytes;
  }
}

function tooLarge(limit: number): GatewayError {
  return new GatewayError('request_too_large', `The body exceeds ${limit} bytes (limits.body).`);
}

const MARK = Buffer.from('\ufeff');
/** A byte order mark has no meaning in UTF-8; RFC 8259, section 8.1, lets a parser ignore it. */
const withoutMark = (bytes: Buffer): Buffer =>
  bytes[0] === MARK[0] && MARK.equals(bytes.subarray(0, 3)) ? bytes.subarray(3) : bytes;
