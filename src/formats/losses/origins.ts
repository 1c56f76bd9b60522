import type { Part, Tool, Turn } from '../conversation.ts';
import { BodyPlace, type ParamPath } from './place.ts';

type LocatedNode = Turn | Part | Tool;

/** A function computes the place on demand. */
type NotedPlace = ParamPath | (() => ParamPath);

/**
 * Where in the caller's body each turn, part and tool of a conversation stands.
 *
 * Two lists and no map: all nodes are noted, and at most a hundred or two are looked up (losses.ts bounds the names).
 * Entering the 60,000 nodes of a 1 MB body into a map takes as long as reading them (measured).
 */
export class Origins {
  readonly #nodes: LocatedNode[] = [];
  /** The place of each node, or the node that it replaces. */
  readonly #places: (NotedPlace | LocatedNode)[] = [];

  note(node: LocatedNode, place: NotedPlace): void {
    this.#nodes.push(node);
    this.#places.push(place);
  }

  /** `node` replaces `before` and inherits its place. A place of its own wins, if it is noted first. */
  carry(before: LocatedNode, node: LocatedNode): void {
    if (before === node) return;
    this.#nodes.push(node);
    this.#places.push(before);
  }

  of(node: LocatedNode | undefined): string | undefined {
    let at = node;
    while (at !== undefined) {
      const place = this.#places[this.#nodes.indexOf(at)];
      if (place === undefined || typeof place === 'string') return place;
      if (place instanceof BodyPlace) return String(place);
      if (typeof place === 'function') return String(place());
      at = place;
    }
    return undefined;
  }
}
