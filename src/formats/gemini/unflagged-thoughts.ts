import type { JsonObject } from '../conversation.ts';
import { isObject } from '../json/object.ts';

/** Characters that wait for the part after them. */
const MAX_HELD = 1024 * 1024;

/**
 * `gemini-2.0-flash-thinking` writes its thoughts and its answer as parts without a flag (docs/protocols/replies.md#inline-thoughts).
 * The last of several texts is the answer. A stream sends its thoughts alone at first, and the end of the last one with the beginning
 * of the answer: single texts wait for that, or for the end of the reply, because a reply of one text is an answer.
 */
export class UnflaggedThoughts {
  #held: JsonObject[] = [];
  #size = 0;
  /** It is known where the answer begins. */
  #settled = false;

  /** The parts to read now, thoughts with a flag. */
  take(parts: readonly unknown[]): readonly unknown[] {
    if (this.#settled) return parts;
    if (!parts.every(isPlainText)) return [...this.rest(), ...parts];
    if (parts.length > 1) {
      const thoughts = [...this.rest(), ...parts.slice(0, -1).filter(isObject)];
      return [...thoughts.map((part) => ({ ...part, thought: true })), parts.at(-1)];
    }
    for (const part of parts) {
      this.#held.push(part);
      this.#size += part.text.length;
    }
    return this.#size > MAX_HELD ? this.rest() : [];
  }

  /** The texts that wait: an answer without thoughts. */
  rest(): readonly JsonObject[] {
    this.#settled = true;
    return this.#held.splice(0);
  }
}

const isPlainText = (part: unknown): part is JsonObject & { readonly text: string } =>
  isObject(part) && typeof part['text'] === 'string' && part['thought'] !== true;
