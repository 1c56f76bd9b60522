import { jsonBytes, literalOf } from '../json/literal.ts';
import { WrittenText } from '../json/written-text.ts';
import type { ItemPlace, ResponseEvents } from './response-events.ts';

/**
 * A reasoning item while it is written. Its thoughts are one part of a summary, where the client is shown any:
 *
 *     {"type":"reasoning","summary":[{"type":"summary_text","text":"So"}],"encrypted_content":"gAAA…"}
 */
export class ReasoningItem {
  readonly place: ItemPlace;
  readonly block: number;
  /** Makes the value of `encrypted_content` of the whole text. */
  encrypt: ((text: string) => string) | undefined;
  readonly #stream: ResponseEvents | undefined;
  readonly #isShown: boolean;
  readonly #text = new WrittenText();
  /** The members by which the events name the summary, once it has begun. */
  #head = '';

  constructor(
    place: ItemPlace,
    stream: ResponseEvents | undefined,
    { block, isShown }: { readonly block: number; readonly isShown: boolean },
  ) {
    this.place = place;
    this.block = block;
    this.#stream = isShown ? stream : undefined;
    this.#isShown = isShown;
  }

  add(text: string): void {
    if (this.#head === '') {
      this.#head = `${this.place.head},"summary_index":0`;
      this.#stream?.event('reasoning_summary_part.added', `${this.#head},"part":${partOf('""')}`);
    }
    this.#text.add(text);
    this.#stream?.delta('reasoning_summary_text.delta', this.#head, literalOf(text));
  }

  whole(): string {
    const text = this.#text.take();
    const encrypted = this.encrypt?.(text);
    const hasSummary = this.#isShown && this.#head !== '';
    const json = hasSummary ? jsonBytes(text) : '""';
    if (hasSummary) {
      this.#stream?.event('reasoning_summary_text.done', `${this.#head},"text":${json}`);
      this.#stream?.event('reasoning_summary_part.done', `${this.#head},"part":${partOf(json)}`);
    }
    const given = encrypted ? `,"encrypted_content":${jsonBytes(encrypted)}` : '';
    return `{"type":"reasoning","summary":[${hasSummary ? partOf(json) : ''}]${given}}`;
  }
}

const partOf = (json: string): string => `{"type":"summary_text","text":${json}}`;
