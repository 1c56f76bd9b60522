/** A place in a body, as OpenAI writes `param`: `messages[2].content[0]`. */
export type Path = string | Place;

/**
 * A place that is written out only where a loss or a fault names it. A body of 1 MB has 100,000 places, and writing each of them
 * takes as long as parsing what stands there (measured: 45 ns for a text, 9 for this object).
 */
export class Place {
  readonly #before: Path;
  readonly #step: string | number;

  private constructor(before: Path, step: string | number) {
    this.#before = before;
    this.#step = step;
  }

  static item(list: Path, at: number): Place {
    return new Place(list, at);
  }

  static field(object: Path, name: string): Place {
    return new Place(object, name);
  }

  toString(): string {
    const before = String(this.#before);
    return typeof this.#step === 'number' ? `${before}[${this.#step}]` : `${before}.${this.#step}`;
  }
}
