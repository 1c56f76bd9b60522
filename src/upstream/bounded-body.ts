import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { addPiece } from '../piece-list.ts';

/** Collects a small body up to a limit. */
export class BoundedBody {
  readonly #limit: number;
  readonly #pieces: Buffer[] = [];
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** False when the limit is exceeded; the excess bytes are dropped. */
  push(bytes: Buffer): boolean {
    const room = this.#limit - this.#length;
    addPiece(this.#pieces, bytes.length > room ? bytes.subarray(0, room) : bytes);
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
 * The text of a small body. The gateway never requests a content coding, but some front ends use one for error pages, so a small
 * body is decoded here. A body that cannot be decoded is replaced with a remark, because its status is still useful.
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
