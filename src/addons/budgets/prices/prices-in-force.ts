import type { PriceList } from './price-list.ts';

/** Lists before the present one that requests under way may have begun with. */
const MAX_EARLIER = 8;

interface Since {
  readonly list: PriceList;
  /** Monotonic milliseconds. */
  readonly from: number;
}

/** Prices that change while requests run. A request pays those with which it began. */
export class PricesInForce {
  #now: Since;
  /** The newest first. */
  #earlier: readonly Since[] = [];

  constructor(list: PriceList) {
    this.#now = { list, from: -Infinity };
  }

  get current(): PriceList {
    return this.#now.list;
  }

  /** @param from monotonic milliseconds */
  replace(list: PriceList, from: number): void {
    this.#earlier = [this.#now, ...this.#earlier].slice(0, MAX_EARLIER);
    this.#now = { list, from };
  }

  /** @param startedAt of a request, monotonic milliseconds */
  at(startedAt: number): PriceList {
    if (startedAt >= this.#now.from) return this.#now.list;
    return (this.#earlier.find(({ from }) => startedAt >= from) ?? this.#earlier.at(-1) ?? this.#now).list;
  }
}
