/** The most unused rows that a block keeps when it shrinks. */
const SPARE_ROWS = 4;

/** Vectors of one group in one contiguous block of memory, so that comparing all of them reads it from start to end. */
export class VectorBlock {
  readonly dimensions: number;
  #values = new Float32Array(0);
  #rows = 0;

  constructor(dimensions: number) {
    this.dimensions = dimensions;
  }

  get bytes(): number {
    return this.#values.byteLength;
  }

  push(vector: Float32Array): number {
    const row = this.#rows;
    if ((row + 1) * this.dimensions > this.#values.length) this.#resize(Math.max(1, row * 2));
    this.#values.set(vector, row * this.dimensions);
    this.#rows += 1;
    return row;
  }

  /** Removes a row. The last row takes its number, which is returned. */
  remove(row: number): number {
    const last = this.#rows - 1;
    this.#values.copyWithin(row * this.dimensions, last * this.dimensions, (last + 1) * this.dimensions);
    this.#rows = last;
    if (last * 4 + SPARE_ROWS < this.#values.length / this.dimensions) this.#resize(Math.max(1, last * 2));
    return last;
  }

  row(row: number): Float32Array {
    return this.#values.slice(row * this.dimensions, (row + 1) * this.dimensions);
  }

  /** The cosine, for vectors of length 1. */
  dot(row: number, vector: Float32Array): number {
    const values = this.#values;
    const from = row * this.dimensions;
    let sum = 0;
    for (let at = 0; at < vector.length; at += 1) sum += values[from + at]! * vector[at]!;
    return sum;
  }

  #resize(rows: number): void {
    const values = new Float32Array(rows * this.dimensions);
    values.set(this.#values.subarray(0, Math.min(values.length, this.#rows * this.dimensions)));
    this.#values = values;
  }
}
