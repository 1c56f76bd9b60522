import { fromBytes, literalOf } from '../json/literal.ts';

/** The number of single literals that are joined at once. */
const BATCH = 256;

/**
 * The text of an answer, and where its parts begin in it. Only grounding needs both, so literals are decoded on demand.
 * Literals are joined, because each one would keep in memory the received text that it was cut from.
 */
export class AnswerText {
  #text = '';
  readonly #starts: number[] = [];
  #literals: string[] = [];
  /** Lists of literals in JSON, without the first and the last quote. */
  #lists: string[] = [];

  add(text: string): void {
    if (this.#literals.length + this.#lists.length === 0) this.#append(text);
    else this.addLiterals([literalOf(text)]);
  }

  /** Adds one part for each literal (json/literal.ts). */
  addLiterals(literals: readonly string[]): void {
    if (literals.length === 1) {
      if (this.#literals.push(literals[0]!) === BATCH) this.#join();
      return;
    }
    this.#join();
    this.#lists.push(literals.join(BETWEEN));
  }

  read(): { readonly text: string; readonly partStarts: readonly number[] } {
    this.#decode();
    return { text: this.#text, partStarts: this.#starts };
  }

  #join(): void {
    if (this.#literals.length === 0) return;
    this.#lists.push(this.#literals.join(BETWEEN));
    this.#literals = [];
  }

  #decode(): void {
    this.#join();
    if (this.#lists.length === 0) return;
    const texts: readonly unknown[] = JSON.parse(fromBytes(`["${this.#lists.join(BETWEEN)}"]`));
    this.#lists = [];
    for (const text of texts) this.#append(String(text));
  }

  #append(text: string): void {
    this.#starts.push(this.#text.length);
    this.#text += text;
  }
}

const BETWEEN = '","';
