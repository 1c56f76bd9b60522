/** UTF-16 units between two known byte offsets. The remainder is counted anew for each lookup. */
const STEP = 256;

/**
 * Converts offsets of one text between UTF-16 units and UTF-8 bytes. Google counts bytes, OpenAI units. A long answer
 * has thousands of such offsets, and measuring the text before each of them would take quadratic time.
 */
export class TextOffsets {
  readonly #text: string;
  readonly #bytes: number;
  readonly #ascii: boolean;
  /** Bytes before every `STEP`th unit, measured on first use. */
  #marks: number[] | undefined;

  constructor(text: string) {
    this.#text = text;
    this.#bytes = Buffer.byteLength(text);
    this.#ascii = this.#bytes === text.length;
  }

  /** Returns the bytes before `units`, which may lie outside of the text, as in `slice`. */
  toBytes(units: number): number {
    const to = clamp(units < 0 ? this.#text.length + units : units, this.#text.length);
    if (this.#ascii) return to;
    const marks = (this.#marks ??= this.#measure());
    const mark = Math.floor(to / STEP);
    return marks[mark]! + Buffer.byteLength(this.#text.slice(markStart(this.#text, mark), to));
  }

  /**
   * Returns the units before `bytes`. An offset inside a character counts as its start, one past the end as the end.
   */
  toUtf16(bytes: number): number {
    const to = clamp(bytes, this.#bytes);
    if (this.#ascii) return to;
    const marks = (this.#marks ??= this.#measure());
    const mark = lastAtMost(marks, to);
    let at = markStart(this.#text, mark);
    for (let seen = marks[mark]!; at < this.#text.length;) {
      const code = this.#text.codePointAt(at)!;
      seen += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
      if (seen > to) break;
      at += code < 0x10000 ? 1 : 2;
    }
    return at;
  }

  #measure(): number[] {
    const marks = [0];
    for (let mark = 1; mark * STEP <= this.#text.length; mark += 1) {
      const piece = this.#text.slice(markStart(this.#text, mark - 1), markStart(this.#text, mark));
      marks.push(marks[mark - 1]! + Buffer.byteLength(piece));
    }
    return marks;
  }
}

/** Never between the halves of a surrogate pair. */
function markStart(text: string, mark: number): number {
  const at = mark * STEP;
  const code = text.charCodeAt(at);
  return at > 0 && code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}

const clamp = (at: number, most: number): number => Math.min(Math.max(Math.trunc(at) || 0, 0), most);

/** Index of the last of the ascending numbers that is not above `limit`; the first is 0. */
function lastAtMost(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (numbers[middle]! <= limit) low = middle;
    else high = middle - 1;
  }
  return low;
}
