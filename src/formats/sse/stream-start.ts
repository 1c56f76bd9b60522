import { isSpace } from '../json/scan.ts';
import { NOTHING } from './held-bytes.ts';

/** UTF-8's byte order mark. RFC 8259, section 8.1, lets a parser ignore it; WHATWG HTML, section 9.2.5, demands that of event streams. */
const MARK = Buffer.from([0xef, 0xbb, 0xbf]);

interface Opened {
  /** All bytes received and not yet returned, without the byte order mark. */
  readonly bytes: Buffer;
  /** Index of the first byte that is neither white space nor part of the mark; undefined until it arrives. */
  readonly first: number | undefined;
}

/**
 * Finds the first significant byte of a stream, which shows what is streamed. A read may split the byte order mark: its
 * first bytes are held until the others arrive, since part of a mark is neither a mark nor text.
 */
export class StreamStart {
  #held: Buffer = NOTHING;
  #begun = false;

  read(received: Buffer): Opened {
    const bytes = this.#held.length === 0 ? received : Buffer.concat([this.#held, received]);
    this.#held = NOTHING;
    if (!this.#begun && bytes.length < MARK.length && MARK.subarray(0, bytes.length).equals(bytes)) {
      this.#held = bytes;
      return { bytes: NOTHING, first: undefined };
    }
    const text = this.#begun ? bytes : withoutMark(bytes);
    this.#begun = true;
    const at = text.findIndex((byte) => !isSpace(byte));
    return { bytes: text, first: at < 0 ? undefined : at };
  }
}

/** Removes the byte order mark, which to most clients is a part of the first line's name. */
export function withoutMark(bytes: Buffer): Buffer {
  const marked = bytes[0] === MARK[0] && bytes[1] === MARK[1] && bytes[2] === MARK[2];
  return marked ? bytes.subarray(MARK.length) : bytes;
}

/** The text of a whole body without the mark, which JSON.parse refuses. */
export function textOf(bytes: Buffer): string {
  return withoutMark(bytes).toString('utf8');
}
