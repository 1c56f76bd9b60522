import type { Part, Tool, Turn } from '../conversation.ts';
import { BodyPlace, type ParamPath } from './place.ts';

type Thing = Turn | Part | Tool;

/** A function looks for the place when it is asked for. */
type NotedPlace = ParamPath | (() => ParamPath);

/**
 * Where in the caller's body each turn, part and tool of a conversation stands.
 *
 * Two lists and no map: all things are noted, and at most a hundred or two are looked up (losses.ts bounds the names). Entering 60,000
 * things of 1 MB into a map takes as long as reading them (measured).
 */
export class Origins {
  readonly #things: Thing[] = [];
  /** The place of each thing, or the thing it stands for. */
  readonly #places: (NotedPlace | Thing)[] = [];

  note(thing: Thing, place: NotedPlace): void {
    this.#things.push(thing);
    this.#places.push(place);
  }

  /** `thing` stands for what `before` was. A place of its own counts for more, and is noted first. */
  carry(before: Thing, thing: Thing): void {
    if (before === thing) return;
    this.#things.push(thing);
    this.#places.push(before);
  }

  of(thing: Thing | undefined): string | undefined {
    let at = thing;
    while (at !== undefined) {
      const place = this.#places[this.#things.indexOf(at)];
      if (place === undefined || typeof place === 'string') return place;
      if (place instanceof BodyPlace) return String(place);
      if (typeof place === 'function') return String(place());
      at = place;
    }
    return undefined;
  }
}
