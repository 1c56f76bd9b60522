import { textOfLiteral } from '../json/literal.ts';
import { WrittenText } from '../json/written-text.ts';

/** Runs of literals that wait to be decoded. A literal may hold the whole read that it was cut from. */
const MAX_WAITING = 16;

/** The text of a part. Literals are decoded many at a time: only the last events of the part need the text. */
export class PartText {
  readonly #text = new WrittenText();
  #waiting: string[] = [];

  add(text: string): void {
    this.#decode();
    this.#text.add(text);
  }

  addLiterals(literals: readonly string[]): void {
    if (this.#waiting.push(literals.length === 1 ? literals[0]! : literals.join('')) === MAX_WAITING) this.#decode();
  }

  #decode(): void {
    if (this.#waiting.length === 0) return;
    this.#text.add(textOfLiteral(this.#waiting.join('')));
    this.#waiting = [];
  }

  take(): string {
    this.#decode();
    return this.#text.take();
  }
}
