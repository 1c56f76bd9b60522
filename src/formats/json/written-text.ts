/** So many pieces are joined at a time. */
const BATCH = 256;

/**
 * Text that is written in pieces. Added to one string, hundreds of thousands of pieces form a tree of strings that the garbage collector
 * walks again and again (measured: half of the time of a reply of 1 MB in one event); joined in batches, they are gone early.
 */
export class WrittenText {
  #pieces: string[] = [];
  #joined: string[] = [];

  add(piece: string): void {
    if (this.#pieces.push(piece) < BATCH) return;
    this.#joined.push(this.#pieces.join(''));
    this.#pieces.length = 0;
  }

  /** All that was added since the last time. */
  take(): string {
    const rest = this.#pieces.length === 1 ? this.#pieces[0]! : this.#pieces.join('');
    this.#pieces.length = 0;
    if (this.#joined.length === 0) return rest;
    const text = this.#joined.join('') + rest;
    this.#joined = [];
    return text;
  }
}
