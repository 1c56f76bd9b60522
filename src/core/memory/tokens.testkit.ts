import type { Clock } from '../../plugin/index.ts';

/** A clock that the test advances. */
export class ManualClock implements Clock {
  #now = 1_000_000;
  #tasks: { readonly at: number; readonly task: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  wall(): number {
    return 1_795_132_800_000 + this.#now;
  }

  after(ms: number, task: () => void): () => void {
    const entry = { at: this.#now + ms, task };
    this.#tasks.push(entry);
    return () => {
      this.#tasks = this.#tasks.filter((other) => other !== entry);
    };
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  advance(ms: number): void {
    this.#now += ms;
    const due = this.#tasks.filter(({ at }) => at <= this.#now);
    this.#tasks = this.#tasks.filter(({ at }) => at > this.#now);
    for (const { task } of due) task();
  }
}
