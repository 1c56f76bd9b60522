/** A FIFO queue. `Array.shift` moves all remaining items: thousands cost the square of their number (measured). */
export class Queue<T> {
  #items: T[];
  #head = 0;

  constructor(items: T[] = []) {
    this.#items = items;
  }

  get length(): number {
    return this.#items.length - this.#head;
  }

  last(): T | undefined {
    return this.length > 0 ? this.#items.at(-1) : undefined;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  pop(): T | undefined {
    return this.length > 0 ? this.#items.pop() : undefined;
  }

  shift(): T | undefined {
    if (this.length === 0) return undefined;
    const item = this.#items[this.#head]!;
    this.#head += 1;
    // Removed items are released once they are half of the array, so that each item is moved once on average.
    if (this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}
