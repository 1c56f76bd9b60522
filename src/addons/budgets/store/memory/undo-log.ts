/** Maps that a failed task leaves as they were: what a transaction is to a database. */
export class UndoLog {
  #undo: (() => void)[] = [];

  run<Result>(task: () => Result): Result {
    this.#undo = [];
    try {
      return task();
    } catch (error) {
      for (const undo of this.#undo.toReversed()) undo();
      throw error;
    } finally {
      this.#undo = [];
    }
  }

  set<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
    const before = map.get(key);
    const had = map.has(key);
    map.set(key, value);
    this.#undo.push(() => (had ? map.set(key, before as Value) : map.delete(key)));
  }

  delete<Key, Value>(map: Map<Key, Value>, key: Key): void {
    const before = map.get(key);
    if (map.delete(key)) this.#undo.push(() => map.set(key, before as Value));
  }

  /** Calls `undo` if the task fails. */
  onFailure(undo: () => void): void {
    this.#undo.push(undo);
  }
}
