/** The part of the bound that one owner may have. */
const SHARE = 1 / 4;

/** A bound in all and for each owner. A first amount enters even if it is larger, or it never would. */
export class UnderWay {
  readonly #most: number;
  readonly #byOwner = new Map<string, number>();
  #all = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Returns the function that ends it, once; undefined where it has no room. */
  enter(owner: string, amount: number): (() => void) | undefined {
    const own = this.#byOwner.get(owner) ?? 0;
    if (this.#all > 0 && this.#all + amount > this.#most) return undefined;
    if (own > 0 && own + amount > this.#most * SHARE) return undefined;
    this.#change(owner, amount);
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.#change(owner, -amount);
    };
  }

  #change(owner: string, amount: number): void {
    this.#all += amount;
    const own = (this.#byOwner.get(owner) ?? 0) + amount;
    if (own > 0) this.#byOwner.set(owner, own);
    else this.#byOwner.delete(owner);
  }
}
