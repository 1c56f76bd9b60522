import { Globs } from './globs.ts';

/**
 * Models whose servers often leave the chain of thought in the answer, in `<think>…</think>`
 * (docs/protocols/replies.md#inline-thoughts). The default of `inline_thinking`; schemas/catalog.json states it too.
 */
export const KNOWN_INLINE_THINKERS: readonly string[] = [
  '*deepseek-r1*',
  '*qwq-*',
  '*qwen3-*',
  '*sonar-reasoning*',
  '*minimax-m*',
];

/** The models of an entry that may begin their answers with their chain of thought. Case does not count. */
export class InlineThinkers {
  readonly #names: Globs;

  constructor(patterns: readonly string[]) {
    this.#names = new Globs(patterns.map((pattern) => pattern.toLowerCase()));
  }

  has(model: string): boolean {
    return this.#names.matches(model.toLowerCase());
  }
}

export const knownInlineThinkers = new InlineThinkers(KNOWN_INLINE_THINKERS);
