import type { JsonObject } from '../conversation.ts';

/**
 * `content_parts` of a stream. The pieces, one after the other, are the list a plain reply has: texts and media in their order, so that
 * who keeps them can send them back as they were made. A text is one item: it is held until the next medium, or the end;
 * nobody waits for it, for it has left as `content`.
 */
export class StreamedParts {
  #held: { readonly block: number; text: string }[] = [];
  #shown = false;

  text(text: string, block: number): void {
    const last = this.#held.at(-1);
    if (last?.block === block) last.text += text;
    else this.#held.push({ block, text });
  }

  /** The medium, and the texts before it. */
  media(item: JsonObject): readonly JsonObject[] {
    this.#shown = true;
    return [...this.#texts(), item];
  }

  /** The texts behind the last medium; none in an answer without media, which has no such list. */
  rest(): readonly JsonObject[] {
    return this.#shown ? this.#texts() : [];
  }

  #texts(): JsonObject[] {
    const texts = this.#held.map(({ text }) => ({ type: 'text', text }));
    this.#held = [];
    return texts;
  }
}
