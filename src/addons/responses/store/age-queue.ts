export interface Link<T> {
  readonly value: T;
  older: Link<T>;
  newer: Link<T>;
}

/** Values in order; each leaves in constant time. A Set finds its first behind all places of deleted ones. */
export class AgeQueue<T> {
  /** A ring: the newest is before the oldest. */
  #oldest: Link<T> | undefined;

  get oldest(): T | undefined {
    return this.#oldest?.value;
  }

  add(value: T): Link<T> {
    const oldest = this.#oldest;
    const link = { value, older: oldest?.older, newer: oldest } as Link<T>;
    if (oldest) oldest.older = oldest.older.newer = link;
    else this.#oldest = link.older = link.newer = link;
    return link;
  }

  remove(link: Link<T>): void {
    link.older.newer = link.newer;
    link.newer.older = link.older;
    if (this.#oldest === link) this.#oldest = link.newer === link ? undefined : link.newer;
  }
}
