/** The requests that wait for a connection. Callers take turns. Entering, leaving and taking have constant cost. */
export class WaitingLine<T> {
  /** The waiting requests by caller, in the order of the callers' turns. */
  readonly #lanes = new Map<string, Set<T>>();
  /** The number of waiting requests; the line alone sets it. */
  size = 0;

  enter(caller: string, one: T): void {
    const lane = this.#lanes.get(caller);
    if (lane) lane.add(one);
    else this.#lanes.set(caller, new Set([one]));
    this.size += 1;
  }

  /** @returns true if it was in the line */
  leave(caller: string, one: T): boolean {
    const lane = this.#lanes.get(caller);
    if (!lane?.delete(one)) return false;
    if (lane.size === 0) this.#lanes.delete(caller);
    this.size -= 1;
    return true;
  }

  /** Takes the oldest request of the caller whose turn it is, and moves that caller to the end. */
  take(): T | undefined {
    for (const [caller, lane] of this.#lanes) {
      this.#lanes.delete(caller);
      for (const one of lane) {
        lane.delete(one);
        if (lane.size > 0) this.#lanes.set(caller, lane);
        this.size -= 1;
        return one;
      }
    }
    return undefined;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const lane of this.#lanes.values()) yield* lane;
  }
}
