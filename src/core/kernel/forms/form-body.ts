import type { FormToken, PartHead } from './form-scanner.ts';

/** A part that is in memory. */
export interface HeldPart {
  readonly head: PartHead;
  readonly pieces: readonly Buffer[];
}

/** The rest of a form that is still arriving, from the data of the part `head`. */
export interface LiveRest {
  readonly head: PartHead;
  readonly tokens: () => AsyncIterable<FormToken>;
  /** Bytes of the rest; undefined if the client did not announce its form's size. */
  readonly length: number | undefined;
}

/** The part of a form's body that the upstream room reads while it is sent. */
interface FormProgress {
  /** Called when a piece has been taken by the connection. */
  onPiece(): void;
  /** Called when all of the body has been taken. */
  onEnd(): void;
}

const END_OF_HEAD = Buffer.from('\r\n\r\n');

/** The form as one target gets it: the bytes of each part as the client sent them, with a boundary of the gateway. */
export class FormBody implements AsyncIterable<Buffer> {
  /** All of the form is in memory: it can be sent again. */
  readonly held: boolean;
  /** Bytes of the body; undefined: sent with chunked transfer coding. */
  readonly length: number | undefined;
  readonly contentType: string;
  /** The next piece has not come from the client yet. */
  waitsForClient = false;
  progress: FormProgress | undefined;
  readonly #boundary: string;
  readonly #parts: readonly HeldPart[];
  readonly #rest: LiveRest | undefined;

  constructor(boundary: string, parts: readonly HeldPart[], rest: LiveRest | undefined) {
    this.#boundary = boundary;
    this.#parts = parts;
    this.#rest = rest;
    this.held = rest === undefined;
    this.contentType = `multipart/form-data; boundary=${boundary}`;
    const known = sizeOf(this.#head());
    this.length = rest ? (rest.length === undefined ? undefined : known + rest.length) : known;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void> {
    for (const piece of this.#head()) {
      yield piece;
      this.progress?.onPiece();
    }
    if (this.#rest) yield* this.#live(this.#rest);
    this.progress?.onEnd();
  }

  /** The text of a held form. */
  toString(): string {
    return Buffer.concat([...this.#head()]).toString();
  }

  /** The parts in memory, and either the last delimiter or the head of the part that is still arriving. */
  *#head(): Generator<Buffer, void> {
    let delimiter = `--${this.#boundary}\r\n`;
    for (const { head, pieces } of this.#parts) {
      yield* this.#start(head, delimiter);
      yield* pieces;
      delimiter = `\r\n--${this.#boundary}\r\n`;
    }
    if (this.#rest) yield* this.#start(this.#rest.head, delimiter);
    else yield Buffer.from(`\r\n--${this.#boundary}--\r\n`);
  }

  *#start({ raw }: PartHead, delimiter: string): Generator<Buffer, void> {
    yield Buffer.from(delimiter);
    yield raw;
    yield END_OF_HEAD;
  }

  async *#live({ tokens }: LiveRest): AsyncGenerator<Buffer, void> {
    this.waitsForClient = true;
    for await (const token of tokens()) {
      this.waitsForClient = false;
      if (token.kind === 'data') yield token.bytes;
      else if (token.kind === 'part') yield Buffer.concat([...this.#start(token.head, `\r\n--${this.#boundary}\r\n`)]);
      else yield Buffer.concat([Buffer.from(`\r\n--${this.#boundary}--`), token.tail]);
      this.progress?.onPiece();
      this.waitsForClient = true;
    }
    this.waitsForClient = false;
  }
}

function sizeOf(pieces: Iterable<Buffer>): number {
  let bytes = 0;
  for (const piece of pieces) bytes += piece.length;
  return bytes;
}
