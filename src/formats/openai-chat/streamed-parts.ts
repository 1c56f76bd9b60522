import type { JsonObject } from '../conversation.ts';

/**
 * Builds `content_parts` of a stream. Joined in order, the pieces are the list of a plain reply: texts and media in
 * order, so that a client can send them back unchanged. A text is one item, held until the next medium or the end. The
 * client already has it as `content`, so the delay costs nothing.
 */
export class StreamedParts {
  #held: { readonly block: number; text: string }[] = [];
  #shown = false;

  text(text: string, block: number): void {
    const last = this.#held.at(-1);
    if (last?.block === block) last.text += text;
    else this.#held.push({ block, text });
  }

  /** Returns the held texts, then the medium. */
  media(item: JsonObject): readonly JsonObject[] {
    this.#shown = true;
    return [...this.#texts(), item];
  }

  /** Returns the texts after the last medium. An answer without media has no such list. */
  rest(): readonly JsonObject[] {
    return this.#shown ? this.#texts() : [];
  }

  #texts(): JsonObject[] {
    const texts = this.#held.map(({ text }) => ({ type: 'text', text }));
    this.#held = [];
    return texts;
  }
}
