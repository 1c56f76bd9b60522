/**
 * Runs the items of one turn of the event loop together at its end: a stage's code stays in the processor's caches.
 * Measured with 32 connections: a chat of 1 KB takes 111 µs without batches, and 87 µs with a batch of bodies and one
 * of replies, of about 14 items. An item that is added while a batch runs belongs to the next one.
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
