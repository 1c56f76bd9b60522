/**
 * Those that wait for a connection of one pool, each caller in turn: a caller with a thousand requests in the line delays another
 * one's by a single request. Entering, leaving and taking cost the same however long the line is.
 */
export class WaitingLine<T> {
  /** In the order in which the callers have their turn. */
  readonly #lanes = new Map<string, Set<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  enter(caller: string, one: T): void {
    const lane = this.#lanes.get(caller);
    if (lane) lane.add(one);
    else this.#lanes.set(caller, new Set([one]));
    this.#size += 1;
  }

  /** @returns whether it was in the line */
  leave(caller: string, one: T): boolean {
    const lane = this.#lanes.get(caller);
    if (!lane?.delete(one)) return false;
    if (lane.size === 0) this.#lanes.delete(caller);
    this.#size -= 1;
    return true;
  }

  /** The one that has waited longest of the caller whose turn it is; that caller is behind all others then. */
  take(): T | undefined {
    for (const [caller, lane] of this.#lanes) {
      this.#lanes.delete(caller);
      for (const one of lane) {
        lane.delete(one);
        if (lane.size > 0) this.#lanes.set(caller, lane);
        this.#size -= 1;
        return one;
      }
    }
    return undefined;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const lane of this.#lanes.values()) yield* lane;
  }
}
