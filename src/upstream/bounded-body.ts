import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';

/** A small body, gathered whole up to a bound. */
export class BoundedBody {
  readonly #limit: number;
  readonly #pieces: Buffer[] = [];
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** False when the bound is reached: what is over it has been left out. */
  push(bytes: Buffer): boolean {
    const room = this.#limit - this.#length;
    this.#pieces.push(bytes.length > room ? bytes.subarray(0, room) : bytes);
    this.#length += Math.min(bytes.length, room);
    return bytes.length <= room;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#pieces, this.#length);
  }
}

type Decode = (bytes: Buffer, options: { maxOutputLength: number }) => Buffer;

const DECODERS: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['deflate', inflateSync],
  ['br', brotliDecompressSync],
  ['zstd', zstdDecompressSync],
]);

/** The content coding of a reply, or undefined for none. */
export function codingOf(headers: Readonly<Record<string, string>>): string | undefined {
  const coding = headers['content-encoding']?.trim().toLowerCase();
  return coding === undefined || coding === '' || coding === 'identity' ? undefined : coding;
}

/**
 * Text of a small body. We never ask for a content coding, but front ends have been seen to use one on error pages; so small
 * a body is decoded where it stands. One that does not decode says so: a status without a text is still worth having.
 */
export function readText(bytes: Buffer, headers: Readonly<Record<string, string>>, limit: number): string {
  const coding = codingOf(headers);
  if (coding === undefined) return toText(bytes);
  const decode = DECODERS.get(coding);
  if (!decode) return `[a body with the unknown content-encoding ${coding}]`;
  try {
    return toText(decode(bytes, { maxOutputLength: limit }));
  } catch {
    return `[a body that is not readable as ${coding}]`;
  }
}

/** UTF-8, without the byte order mark that JSON.parse refuses. */
function toText(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}
