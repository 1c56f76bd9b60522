const SHORT = 64 * 1024;
/** A buffer that has grown beyond this by a burst of requests is not kept. */
const LONG = 1024 * 1024;

const MINUS = 0x2d;
const ZERO = 0x30;
/** The largest power of ten whose digits are computed as small integers. */
const PIECE = 100_000_000;
const PIECE_DIGITS = 8;
const NUMBER_LENGTH = 25;
/** Below this a loop is faster than a call of `write` (measured). */
const LOOP_LENGTH = 12;

/** Lines of JSON as bytes, in one buffer that is used again: strings would be garbage of each request. */
export class LineBytes {
  #bytes = Buffer.allocUnsafe(SHORT);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Valid until the next change. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  clear(): void {
    this.#length = 0;
    if (this.#bytes.length > LONG) this.#bytes = Buffer.allocUnsafe(SHORT);
  }

  ascii(text: string): void {
    const { length } = text;
    this.#reserve(length);
    const bytes = this.#bytes;
    if (length >= LOOP_LENGTH) bytes.write(text, this.#length, 'latin1');
    else for (let index = 0; index < length; index += 1) bytes[this.#length + index] = text.charCodeAt(index);
    this.#length += length;
  }

  text(text: string): void {
    // A character takes three bytes at most (surrogates, which are two characters, four).
    this.#reserve(text.length * 3);
    this.#length += this.#bytes.write(text, this.#length);
  }

  copy(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** `null` for a number that JSON does not have. */
  number(value: number): void {
    this.#reserve(NUMBER_LENGTH);
    if (!Number.isSafeInteger(value)) return this.ascii(Number.isFinite(value) ? String(value) : 'null');
    if (value >= 0) return this.#whole(value);
    this.#bytes[this.#length++] = MINUS;
    this.#whole(-value);
  }

  toString(): string {
    return this.#bytes.toString('utf8', 0, this.#length);
  }

  /** Digit by digit: the text of a number would be a string for each of the thirty numbers of a request. */
  #whole(value: number): void {
    if (value < 10) {
      this.#bytes[this.#length++] = ZERO + value;
      return;
    }
    if (value < PIECE) {
      let digits = 2;
      for (let power = 100; power <= value; power *= 10) digits += 1;
      return this.#digits(value, digits);
    }
    const high = Math.floor(value / PIECE);
    this.#whole(high);
    this.#digits(value - high * PIECE, PIECE_DIGITS);
  }

  #digits(value: number, count: number): void {
    const bytes = this.#bytes;
    let left = value | 0;
    for (let at = this.#length + count - 1; at >= this.#length; at -= 1) {
      const tenth = (left / 10) | 0;
      bytes[at] = ZERO + left - tenth * 10;
      left = tenth;
    }
    this.#length += count;
  }

  #reserve(count: number): void {
    const least = this.#length + count;
    if (least <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(least, 2 * this.#bytes.length));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
