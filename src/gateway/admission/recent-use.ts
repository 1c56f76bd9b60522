const HALF_LIFE_MS = 10_000;
/** A key whose remaining use is below this is forgotten. */
const LEAST_MS = 1;

interface Use {
  ms: number;
  at: number;
}

const left = ({ ms, at }: Use, when: number): number => ms * 2 ** ((at - when) / HALF_LIFE_MS);

/** The time that each key has used recently, with a half-life of 10 s. */
export class RecentUse {
  readonly #keys = new Map<string, Use>();
  readonly #all: Use = { ms: 0, at: 0 };
  #forgotAt = 0;

  add(key: string, ms: number, at: number): void {
    const use = this.#keys.get(key) ?? { ms: 0, at };
    this.#keys.set(key, use);
    for (const one of [use, this.#all]) {
      one.ms = left(one, at) + ms;
      one.at = at;
    }
    if (at - this.#forgotAt >= HALF_LIFE_MS) this.#forget(at);
  }

  /** True if the key has used less than half of an equal share. */
  isSmall(key: string, at: number): boolean {
    const use = this.#keys.get(key);
    const keys = this.#keys.size + (use ? 0 : 1);
    return (use ? left(use, at) : 0) * keys * 2 < left(this.#all, at);
  }

  /** A key without recent use no longer counts in the equal shares. */
  #forget(at: number): void {
    this.#forgotAt = at;
    for (const [key, use] of this.#keys) if (left(use, at) < LEAST_MS) this.#keys.delete(key);
  }
}
