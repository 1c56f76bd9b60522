import type { FileEntry } from './file-store.ts';

/** The uploads of this process under way. An owner's total counts their bytes before the files are visible. */
export class Arrivals {
  readonly #byOwner = new Map<string, Map<string, ArrivingUpload>>();

  /** Undefined: another request of this process brings bytes of the same file. */
  enter(owner: string, id: string): ArrivingUpload | undefined {
    let others = this.#byOwner.get(owner);
    if (!others) this.#byOwner.set(owner, (others = new Map()));
    if (others.has(id)) return undefined;
    const all = others;
    const arrival = new ArrivingUpload(all, () => {
      all.delete(id);
      if (arrival.kept !== undefined) for (const one of all.values()) one.settle(id, arrival.kept);
      if (all.size === 0 && this.#byOwner.get(owner) === all) this.#byOwner.delete(owner);
    });
    all.set(id, arrival);
    return arrival;
  }

  /** A file is gone, so uploads under way have its room. */
  removed(owner: string, id: string): void {
    for (const one of this.#byOwner.get(owner)?.values() ?? []) one.settle(id, 0);
  }
}

/** One request that brings bytes of a file. */
export class ArrivingUpload {
  readonly #all: ReadonlyMap<string, ArrivingUpload>;
  readonly #leave: () => void;
  /** Each file of the owner as the store has it, and the changes since it was read. */
  #stored: Map<string, number> | undefined;
  #changed = new Map<string, number>();
  #sum = 0;
  #over = false;
  /** Bytes of the file so far, those of earlier requests included, or as many as the request announces. */
  bytes = 0;
  /** Bytes of the file that stay stored when the request has ended; undefined: the request has changed nothing. */
  kept: number | undefined;

  constructor(all: ReadonlyMap<string, ArrivingUpload>, leave: () => void) {
    this.#all = all;
    this.#leave = leave;
  }

  /** Takes what the store has, read after the request has entered: no file is missed that arrived meanwhile. */
  count(sizes: readonly Pick<FileEntry, 'id' | 'bytes'>[]): void {
    this.#stored = new Map();
    for (const { id, bytes } of sizes) this.#set(id, bytes);
    for (const [id, bytes] of this.#changed) this.#set(id, bytes);
    this.#changed = new Map();
  }

  /** Bytes of the owner's other files, stored or under way. */
  get others(): number {
    let sum = this.#sum;
    for (const [id, one] of this.#all) {
      const stored = this.#stored?.get(id) ?? 0;
      sum += one === this ? -stored : Math.max(0, one.bytes - stored);
    }
    return sum;
  }

  /** Another request has ended, or a file is gone: this is what the store has of it now. */
  settle(id: string, bytes: number): void {
    if (this.#stored) this.#set(id, bytes);
    else this.#changed.set(id, bytes);
  }

  end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#leave();
  }

  #set(id: string, bytes: number): void {
    const stored = this.#stored!;
    this.#sum += bytes - (stored.get(id) ?? 0);
    if (bytes > 0) stored.set(id, bytes);
    else stored.delete(id);
  }
}
