import type { Usage } from '../../../formats/events.ts';
import type { Learned } from './reserve.ts';

/** Pairs of a key and a model whose sizes are kept. Each takes 2 KB. */
const MAX_KEPT = 2000;
/** Fewer requests say nothing about one of a thousand, or of a hundred. */
const ENOUGH_FOR_P999 = 2000;
const ENOUGH_FOR_P99 = 200;
/** The older half of what was seen counts half: models and callers change. */
const MAX_SEEN = 20_000;

/** Each bucket is 5 % wider than the one before, so that a percentile is 5 % too high at most. */
const STEP = Math.log(1.05);

class Histogram {
  readonly #counts: Uint32Array;
  readonly #least: number;
  #seen = 0;

  constructor(least: number, most: number) {
    this.#least = least;
    this.#counts = new Uint32Array(Math.ceil(Math.log(most / least) / STEP) + 1);
  }

  add(value: number): void {
    const counts = this.#counts;
    const bucket = Math.ceil(Math.log(Math.max(value, this.#least) / this.#least) / STEP);
    const at = Math.min(bucket, counts.length - 1);
    counts[at] = counts[at]! + 1;
    if ((this.#seen += 1) < MAX_SEEN) return;
    this.#seen = 0;
    for (let index = 0; index < counts.length; index += 1) this.#seen += counts[index] = counts[index]! >> 1;
  }

  /** The least value that this share of all did not exceed; undefined for too few, and beyond the largest bucket. */
  percentile(share: number, enough: number): number | undefined {
    if (this.#seen < enough) return undefined;
    let above = this.#seen * (1 - share);
    const last = this.#counts.length - 1;
    for (let at = last; at >= 0; at -= 1) {
      above -= this.#counts[at]!;
      if (above < 0) return at === last ? undefined : this.#least * Math.exp(at * STEP);
    }
    return undefined;
  }
}

interface Sizes {
  readonly ratios: Histogram;
  readonly outputs: Histogram;
}

export interface LearnedOf {
  /** Undefined: the request has no key. */
  readonly key: string | undefined;
  readonly model: string;
}

/** Tokens of earlier requests, for reserves. Keys are apart: short requests of one would make the reserves of others too small. */
export class LearnedSizes {
  readonly #keys = new Map<string, Map<string, Sizes>>();
  #kept = 0;

  /** @param textBytes of a prompt without media; undefined for others */
  add({ key = '', model }: LearnedOf, textBytes: number | undefined, { input, output }: Usage): void {
    const { ratios, outputs } = this.#keys.get(key)?.get(model) ?? this.#begin(key, model);
    if (textBytes) ratios.add(input / textBytes);
    outputs.add(output);
  }

  of({ key = '', model }: LearnedOf): Learned {
    const sizes = this.#keys.get(key)?.get(model);
    if (!sizes) return {};
    const { ratios, outputs } = sizes;
    return {
      ratioP999: ratios.percentile(0.999, ENOUGH_FOR_P999),
      ratioP99: ratios.percentile(0.99, ENOUGH_FOR_P99),
      outputP99: outputs.percentile(0.99, ENOUGH_FOR_P99),
    };
  }

  #begin(key: string, model: string): Sizes {
    if (this.#kept >= MAX_KEPT) {
      // Until they have learned again, reserves are the bound.
      this.#keys.clear();
      this.#kept = 0;
    }
    const sizes = { ratios: new Histogram(0.02, 8), outputs: new Histogram(1, 2_000_000) };
    this.#keys.set(key, (this.#keys.get(key) ?? new Map<string, Sizes>()).set(model, sizes));
    this.#kept += 1;
    return sizes;
  }
}
