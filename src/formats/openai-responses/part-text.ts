import { literalOf } from '../json/literal.ts';
import { WrittenText } from '../json/written-text.ts';

/** Runs of literals that wait to be joined. A literal may hold the whole read that it was cut from. */
const MAX_WAITING = 16;

/** The text of a part as a literal: the last events of the part and the response have it, and none of them needs it decoded. */
export class PartText {
  readonly #text = new WrittenText();
  #hasText = false;
  #waiting: string[] = [];
  readonly #literals = new WrittenText();

  add(text: string): void {
    this.#join();
    this.#hasText = true;
    this.#text.add(text);
  }

  addLiterals(literals: readonly string[]): void {
    if (this.#hasText) this.#write();
    if (this.#waiting.push(literals.length === 1 ? literals[0]! : literals.join('')) === MAX_WAITING) this.#join();
  }

  #join(): void {
    if (this.#waiting.length === 0) return;
    this.#literals.add(this.#waiting.length === 1 ? this.#waiting[0]! : this.#waiting.join(''));
    this.#waiting = [];
  }

  #write(): void {
    this.#hasText = false;
    this.#literals.add(literalOf(this.#text.take()));
  }

  /** Returns and clears the literal. */
  take(): string {
    this.#join();
    if (this.#hasText) this.#write();
    return this.#literals.take();
  }
}
