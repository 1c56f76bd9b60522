import { addPiece } from '../../formats/json/piece-list.ts';
import { codingOf } from '../kernel/body/content-decoder.ts';

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

/** A number of bytes that several bodies share. */
export class ByteBudget {
  readonly limit: number;
  #left: number;

  /** @param spent bytes of earlier bodies that are still held */
  constructor(limit: number, spent = 0) {
    this.limit = limit;
    this.#left = limit - spent;
  }

  get left(): number {
    return this.#left;
  }

  /** False, and takes none, if fewer are left. */
  take(bytes: number): boolean {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }
}

/** The text of a small body. One in a coding that is not decoded is replaced with a remark, because its status is still useful. */
export function readText(bytes: Buffer, headers: Readonly<Record<string, string>>): string {
  const coding = codingOf(headers['content-encoding']);
  return coding === undefined ? toText(bytes) : `[a body with the unknown content-encoding ${coding}]`;
}

/** UTF-8, without the byte order mark that JSON.parse refuses. */
function toText(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}
