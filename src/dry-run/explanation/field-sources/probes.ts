import {
  changed,
  differenceOf,
  leavesOf,
  valuesOf,
  type LeafChange,
  type Difference,
  type Leaves,
  type LeafValue,
} from './leaves.ts';

/** A request, and what writes it. */
export interface Writing {
  readonly input: unknown;
  /** Pure, given JSON like the input. May throw. */
  readonly write: (input: unknown) => unknown;
}

/** What a changed request was written as. */
export interface ProbeResult {
  readonly after: ReadonlyMap<string, LeafValue>;
  readonly difference: Difference;
}

/** Writes a request again and again, each time with something else in it, and never more often than it may. */
export class Probes {
  readonly before: Leaves;
  readonly #writing: Writing;
  #left: number;

  /** Throws what the writer throws. */
  constructor(writing: Writing, atMost: number) {
    this.#writing = writing;
    this.#left = atMost;
    this.before = leavesOf(writing.write(writing.input));
  }

  get left(): number {
    return this.#left;
  }

  /** Undefined: it cannot be written so, or there have been probes enough. */
  with(changes: readonly LeafChange[]): ProbeResult | undefined {
    if (this.#left <= 0) return undefined;
    this.#left -= 1;
    const { input, write } = this.#writing;
    try {
      const after = valuesOf(write(changed(input, changes)));
      return { after, difference: differenceOf(this.before, after) };
    } catch {
      return undefined;
    }
  }
}
