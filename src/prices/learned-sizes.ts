import type { Usage } from '../formats/events.ts';
import type { Learned } from './reserve.ts';

/** Models whose sizes are kept. */
const MAX_MODELS = 1000;
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

/** What requests to models used, so that reserves follow it. One for a process. */
export class LearnedSizes {
  readonly #models = new Map<string, { readonly ratios: Histogram; readonly outputs: Histogram }>();

  /**
   * @param model the catalog entry and the model
   * @param textBytes of a prompt without media; undefined for others
   */
  add(model: string, textBytes: number | undefined, { input, output }: Usage): void {
    let sizes = this.#models.get(model);
    if (!sizes) {
      if (this.#models.size >= MAX_MODELS) this.#models.clear();
      this.#models.set(model, (sizes = { ratios: new Histogram(0.02, 8), outputs: new Histogram(1, 2_000_000) }));
    }
    if (textBytes) sizes.ratios.add(input / textBytes);
    sizes.outputs.add(output);
  }

  of(model: string): Learned {
    const sizes = this.#models.get(model);
    if (!sizes) return {};
    const { ratios, outputs } = sizes;
    return {
      ratioP999: ratios.percentile(0.999, ENOUGH_FOR_P999),
      ratioP99: ratios.percentile(0.99, ENOUGH_FOR_P99),
      outputP99: outputs.percentile(0.99, ENOUGH_FOR_P99),
    };
  }
}
