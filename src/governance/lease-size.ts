import { MAX_NANO } from '../state/counters.ts';

/** A slice lasts about this long at the speed of the account. */
const SLICE_S = 30;
/** A report comes each second: what is older than `SLICE_S` hardly counts. */
const KEPT = 1 - 1 / SLICE_S;
/** Answers that take longer are slow: a burst of requests would have to wait for them. */
const SLOW_MS = 100;
/** An estimate of the time of answers falls so slowly that one quick answer does not hide a slow store. */
const FALLS_TO = 0.8;

/** How fast an account uses its room, from its totals of each second. */
export class Pace {
  #before = 0;
  #last = 0;
  #recent = 0;

  /** @param total what has been used and reserved since the account began */
  note(total: number): void {
    // A total falls where requests cost less than their reserves.
    this.#last = Math.max(0, total - this.#before);
    this.#recent = this.#recent * KEPT + this.#last;
    this.#before = total;
  }

  /** What it may use until its next slice: the speed of the last second, and after a pause the spending before it. */
  get ahead(): number {
    return Math.ceil(Math.max(this.#last * SLICE_S, this.#recent));
  }
}

/** How long the store takes to answer. */
export class AnswerTime {
  #ms = 0;

  note(ms: number): void {
    this.#ms = Math.max(ms, this.#ms * FALLS_TO);
  }

  get isSlow(): boolean {
    return this.#ms > SLOW_MS;
  }
}

export interface Demand {
  /** What the counter has free, when the store answered last. */
  readonly free: number;
  /** Processes that share the counter. */
  readonly live: number;
  /** The smallest useful grant, and the sum of all reserves that asked for room. */
  readonly need: number;
  readonly sum: number;
  readonly ahead: number;
  /** The account has a cap that is enforced. */
  readonly hard: boolean;
  /** The next slice comes late: this one has to last for a burst of requests. */
  readonly isSlow: boolean;
}

/** The part of what is free that one process may take at once. */
export const shareOf = ({ free, live }: Pick<Demand, 'free' | 'live'>): number => Math.floor(free / (4 * live));

/** The size of the next slice. */
export function wantOf(demand: Demand): number {
  const { free, live, need, sum, hard, isSlow } = demand;
  const ahead = Math.min(MAX_NANO, Math.max(need, demand.ahead, 8 * Math.ceil(sum)));
  if (!hard) return ahead;
  // Near the cap slices are single requests, so that little room lies idle.
  if (free < 2 * live * need) return need;
  const share = shareOf(demand);
  return Math.max(need, isSlow ? share : Math.min(share, ahead));
}
