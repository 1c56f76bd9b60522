import type { IncomingMessage } from 'node:http';
import {
  addPiece,
  DirectRequest,
  LoopBatch,
  type BodySink,
  type CancelListener,
  type Exchange,
  type GatewayContext,
  type RequestLimits,
} from '../../src/core/kernel/index.ts';
import { GatewayError, type ReplyEnd } from '../../src/plugin/index.ts';
import { brokenBody, requestDecoder } from './pieces.ts';

/** A body that waits for the end of the turn, in bytes: others would drive a larger one out of the caches. */
const MAX_BATCHED = 16 * 1024;

const DECODER_BYTES = 256 * 1024;

const EMPTY: Buffer = Buffer.alloc(0);

/** Bodies that arrive in one turn of the event loop: their requests go on together. */
const arrived = new LoopBatch<BodyReader>((reader) => reader.resolve());

/** Within the limits of one body and of all requests together. Throws GatewayError. */
export function readBody({ req, res, exchange }: GatewayContext, limits: RequestLimits): Promise<Buffer> {
  const { head } = exchange.request;
  const decoder = requestDecoder(exchange.request);
  // The announced size is reserved at once; an unannounced size is reserved as the bytes arrive.
  const announced = decoder ? 0 : Number(head.contentLength ?? 0);
  if (announced > limits.body) throw tooLarge(limits.body);
  const room = decoder ? DECODER_BYTES : announced;
  const refused = limits.reserve(exchange, room);
  if (refused) throw refused;
  if (head.expect !== undefined) res.writeContinue();
  return new Promise((resolve, reject) => {
    new BodyReader({ req, decoder, exchange, limits, announced, room }, { resolve, reject }).begin();
  });
}

interface Reading {
  readonly req: IncomingMessage;
  /** Undefined: the body is not coded. */
  readonly decoder: ReturnType<typeof requestDecoder>;
  readonly exchange: Exchange;
  readonly limits: RequestLimits;
  /** The size that the client announced, in bytes; 0 if it did not. */
  readonly announced: number;
  /** The bytes that are reserved. */
  readonly room: number;
}

type Settle = Pick<PromiseWithResolvers<Buffer>, 'resolve' | 'reject'>;

/** Collects the bytes of one body. Its three functions of a sink are the only ones that a body makes. */
class BodyReader implements BodySink, CancelListener {
  readonly #of: Reading;
  readonly #settle: Settle;
  readonly #body: BodyPieces | WholeBody;
  #room: number;
  #size = 0;
  #bytes = EMPTY;

  constructor(reading: Reading, settle: Settle) {
    const { announced, room, limits } = reading;
    this.#of = reading;
    this.#settle = settle;
    this.#room = room;
    // No other reader of the request keeps pieces of its body.
    this.#body = announced > MAX_PIECES ? new WholeBody(announced, limits.builtInOnly ?? false) : new BodyPieces();
  }

  begin(): void {
    const { req, decoder, exchange } = this.#of;
    if (decoder || !(req instanceof DirectRequest && req.takeBody(this))) this.leaveToStream();
    // Calls back at once when the client has already disconnected.
    exchange.cancellation.listen(this);
  }

  leaveToStream(): void {
    const { req, decoder } = this.#of;
    const pieces = decoder ? req.on('error', this.breakBody).pipe(decoder) : req;
    pieces.on('data', this.takePiece).on('end', this.endBody).on('error', this.breakBody);
  }

  /** Goes on with the bytes of a body that has waited for the end of the turn. */
  resolve(): void {
    const bytes = this.#bytes;
    // The listeners of a request live as long as its reply.
    this.#bytes = EMPTY;
    this.#settle.resolve(bytes);
  }

  onCancelled(reason: GatewayError): void {
    const { req, decoder, exchange } = this.#of;
    if (req instanceof DirectRequest) req.returnBody();
    req.off('data', this.takePiece).off('end', this.endBody).off('error', this.breakBody);
    // Destroying it ends the pipe.
    decoder?.off('data', this.takePiece).off('end', this.endBody).destroy();
    exchange.cancellation.unlisten(this);
    this.#settle.reject(reason);
  }

  readonly takePiece = (piece: Buffer): void => {
    this.#size += piece.length;
    const refused = this.#refusal();
    if (!refused) return this.#body.add(piece);
    this.#of.req.pause();
    this.onCancelled(refused);
  };

  #refusal(): GatewayError | undefined {
    const { exchange, limits } = this.#of;
    if (this.#size > limits.body) return tooLarge(limits.body);
    if (this.#size <= this.#room) return undefined;
    const noRoom = limits.reserve(exchange, this.#size - this.#room);
    if (!noRoom) this.#room = this.#size;
    return noRoom;
  }

  // The listeners stay: nothing follows the end of a body, and removing them costs more than adding them.
  readonly endBody = (): void => {
    const { exchange, announced, limits } = this.#of;
    exchange.cancellation.unlisten(this);
    const whole = this.#body.bytes();
    // A body with memory of its own.
    if (announced > MAX_PIECES && limits.builtInOnly) freeAtEnd(exchange, whole);
    this.#bytes = withoutMark(whole);
    if (this.#bytes.length > MAX_BATCHED) this.resolve();
    else arrived.add(this);
  };

  readonly breakBody = (cause: unknown): void => this.onCancelled(brokenBody(cause));
}

/** An announced body that is kept in pieces, in bytes: one or two reads, which the garbage collector frees cheaply. */
const MAX_PIECES = 64 * 1024;

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
 * Each piece is copied to its place at once, so that its memory may be freed. An announcement alone allocates nothing,
 * because V8 counts that memory (measured: 6 ms of CPU for 40 MB that never came).
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

/**
 * Frees the memory of a buffer that nothing reads any more, instead of at a garbage collection. V8 marks its whole heap
 * after each 64 MB of new buffers that it has not collected, which took half of the CPU of a body of 100 KB and three
 * quarters of that of 1 MB (measured). A later read of the buffer, or of a part of it, finds it empty.
 */
function freeMemory({ buffer, byteLength }: Buffer): void {
  // A buffer smaller than its ArrayBuffer shares that memory with other buffers. `transfer(0)` frees the memory.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

const freeAtEnd = (exchange: Exchange, bytes: Buffer): void =>
  exchange.onEnd((end) => {
    if (isUnread(exchange, end)) freeMemory(bytes);
  });

/**
 * Only built-in plugins have had the body. These may still read it: a stored explanation, the work of an attempt that
 * was given up, and the operating system. So each attempt must have been sent, and all that was sent delivered.
 */
const isUnread = ({ explainId, attempts }: Exchange, { state }: ReplyEnd): boolean =>
  state === 'complete' &&
  explainId === undefined &&
  attempts.length > 0 &&
  attempts.every(({ tries }) => tries.length > 0 && tries.every(({ delivered }) => delivered));
