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

/** A request, and the function that encodes it. */
export interface Writing {
  readonly input: unknown;
  /** Pure; takes JSON in the shape of the input. May throw. */
  readonly write: (input: unknown) => unknown;
}

/** The encoding of a changed request. */
export interface ProbeResult {
  readonly after: ReadonlyMap<string, LeafValue>;
  readonly difference: Difference;
}

/** Encodes a request repeatedly, each time with other changes, up to a maximum number of times. */
export class Probes {
  readonly before: Leaves;
  readonly #writing: Writing;
  #left: number;

  /** Throws the writer's error. */
  constructor(writing: Writing, atMost: number) {
    this.#writing = writing;
    this.#left = atMost;
    this.before = leavesOf(writing.write(writing.input));
  }

  get left(): number {
    return this.#left;
  }

  /** Undefined when the changed request cannot be encoded, or no probes are left. */
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
