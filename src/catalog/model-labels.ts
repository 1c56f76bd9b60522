import type { Globs } from './globs.ts';

/** Names made like the vendors make theirs. Callers write model names: without this, any text could become a label. */
const VENDOR_NAME =
  /^(?:claude|gemini|gemma|imagen|text-embedding|gpt|o[0-9]|llama|mistral|codestral|sim)-[a-z0-9][a-z0-9.@-]{0,63}$/;
const MAX_NAMES = 200;
export const OTHER = '__other__';

/**
 * Model names as metric labels. A name the catalog lists literally is always itself; the first 200 others that look like a
 * vendor's are too; all that comes after is `__other__`. Names are never given up again: a label that came and went would
 * leave its series behind. One per process.
 */
export class ModelLabels {
  readonly #names = new Set<string>();
  readonly #max: number;

  constructor(max: number = MAX_NAMES) {
    this.#max = max;
  }

  /**
   * @param listed the entry's allow-list
   * @param asked the name as the request has it, which is what the list is about
   * @param model the name as the upstream knows it, which is the label
   */
  labelFor(listed: Globs | undefined, asked: string, model: string): string {
    if (this.#names.has(model) || listed?.hasLiteral(asked)) return model;
    if (this.#names.size >= this.#max || !VENDOR_NAME.test(model)) return OTHER;
    this.#names.add(model);
    return model;
  }
}
