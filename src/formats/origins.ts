import type { Part, Tool, Turn } from './conversation.ts';

type Thing = Turn | Part | Tool;

/**
 * Where in the caller's body each turn, part and tool of a conversation stands. Noted only when somebody asks (translate.ts): a
 * request that loses nothing is read without.
 */
export class Origins {
  readonly #places = new Map<Thing, string>();

  note(thing: Thing, place: string): void {
    this.#places.set(thing, place);
  }

  /** `thing` stands for what `before` was. */
  carry(before: Thing, thing: Thing): void {
    const place = this.#places.get(before);
    if (place !== undefined && !this.#places.has(thing)) this.#places.set(thing, place);
  }

  of(thing: Thing | undefined): string | undefined {
    return thing && this.#places.get(thing);
  }
}
