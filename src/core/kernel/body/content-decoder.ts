import { Transform, type TransformCallback } from 'node:stream';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';

type Decoding = Transform & { readonly bytesWritten: number };

const gunzip = (): Decoding => createGunzip();
const brotli = (): Decoding => createBrotliDecompress();
/** Some servers send `deflate` without the header of RFC 1950, whose first byte names the method. */
const inflate = (first: number): Decoding => ((first & 0x0f) === 8 ? createInflate() : createInflateRaw());
/** RFC 9659: a frame of this coding needs at most 8 MiB of window. */
const zstd = (): Decoding => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: 23 } });

const DECODINGS: ReadonlyMap<string, (first: number) => Decoding> = new Map([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['deflate', inflate],
  ['br', brotli],
  ['zstd', zstd],
]);

/** The header of every request to an upstream: without it a server may use any coding (RFC 9110, section 12.5.3). */
export const UNCODED = { 'accept-encoding': 'identity' };

/** The codings that are decoded, for messages. */
export const CODINGS = 'gzip, deflate, br, zstd';

/** Most decoded bytes for each received byte after the first MiB. Agents' bodies have 4 to 20; a bomb, a thousand. */
const MOST_FOR_EACH = 100;
const FREE_BYTES = 1024 * 1024;

/** Most received bytes for each decoded byte. Frequent flushes need more than one; empty frames would never end. */
const MOST_RECEIVED = 4;

/** `cut`: the body ended too early. `dense`: it is a bomb. */
export class DecodeFault extends Error {
  override readonly name = 'DecodeFault';
  readonly kind: 'corrupt' | 'cut' | 'dense';

  constructor(kind: DecodeFault['kind'], message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

/** The content coding of a body; undefined for none. Several are one name, which no decoder has: `gzip, gzip`. */
export function codingOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const codings = header.split(',').map((name) => name.trim().toLowerCase());
  return codings.filter((name) => name !== '' && name !== 'identity').join(', ') || undefined;
}

/** Undefined for a coding that is not decoded. */
export function decoderOf(coding: string): ContentDecoder | undefined {
  const open = DECODINGS.get(coding);
  return open && new ContentDecoder(coding, open);
}

/** Decodes a body as its pieces arrive. Its error is a DecodeFault. An empty body is empty in every coding. */
export class ContentDecoder extends Transform {
  readonly #coding: string;
  readonly #open: (first: number) => Decoding;
  #decoding: Decoding | undefined;
  #received = 0;
  #decoded = 0;
  #ended = false;
  #done: TransformCallback | undefined;

  constructor(coding: string, open: (first: number) => Decoding) {
    super();
    this.#coding = coding;
    this.#open = open;
  }

  override _transform(piece: Buffer, _: BufferEncoding, done: TransformCallback): void {
    if (piece.length === 0) return done();
    if (this.#received > FREE_BYTES + MOST_RECEIVED * this.#decoded) return void this.destroy(this.#hollow());
    this.#received += piece.length;
    if (this.#ended) return void this.destroy(this.#trailing());
    this.#done = done;
    (this.#decoding ??= this.#begin(piece[0]!)).write(piece, () => this.#goOn());
  }

  override _flush(done: TransformCallback): void {
    if (!this.#decoding || this.#ended) return done();
    this.#done = done;
    this.#decoding.end();
  }

  override _read(size: number): void {
    this.#decoding?.resume();
    super._read(size);
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#decoding?.destroy();
    callback(error);
  }

  #begin(first: number): Decoding {
    const decoding = this.#open(first);
    decoding.on('data', (piece: Buffer) => {
      this.#decoded += piece.length;
      if (this.#decoded > FREE_BYTES + MOST_FOR_EACH * this.#received) this.destroy(this.#dense());
      else if (!this.push(piece)) decoding.pause();
    });
    decoding.on('end', () => {
      this.#ended = true;
      if (decoding.bytesWritten < this.#received) this.destroy(this.#trailing());
      else this.#goOn();
    });
    decoding.on('error', (cause: NodeJS.ErrnoException) => {
      const isCut = cause.code === 'Z_BUF_ERROR';
      const what = isCut ? `ends before its ${this.#coding} is complete` : `is not readable as ${this.#coding}`;
      this.destroy(new DecodeFault(isCut ? 'cut' : 'corrupt', what, cause));
    });
    return decoding;
  }

  #goOn(): void {
    const done = this.#done;
    this.#done = undefined;
    done?.();
  }

  #trailing(): DecodeFault {
    return new DecodeFault('corrupt', `goes on after the end of its ${this.#coding}`);
  }

  #hollow(): DecodeFault {
    return new DecodeFault('corrupt', `has nearly nothing behind its ${this.#coding}`);
  }

  #dense(): DecodeFault {
    return new DecodeFault('dense', `has more than ${MOST_FOR_EACH} times its size behind ${this.#coding}`);
  }
}
