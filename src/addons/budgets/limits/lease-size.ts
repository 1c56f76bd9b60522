import { MAX_NANO } from '../../../core/ports/counters.ts';

/** A slice lasts about this long at the speed of the account. */
const SLICE_S = 30;
/** A report comes each second. The sum of what each used, with this weight a second, is `SLICE_S` times the mean. */
const KEPT = 1 - 1 / SLICE_S;
/** A store whose answers take longer is slow. A burst of requests uses up a small slice and has to wait for the next. */
const SLOW_MS = 100;
/** The estimate of the answer time falls by a fifth with each quicker answer, so that one quick answer does not hide a slow store. */
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

  /** The amount that it may use in `SLICE_S`: at the speed of the last second or at the mean of the seconds before, whichever is more. */
  get ahead(): number {
    return Math.ceil(Math.max(this.#last * SLICE_S, this.#recent));
  }
}

export class AnswerTime {
  #ms = 0;

  note(ms: number): void {
    this.#ms = Math.max(ms, this.#ms * FALLS_TO);
  }

  get isSlow(): boolean {
    return this.#ms > SLOW_MS;
  }
}

interface Demand {
  readonly free: number;
  readonly live: number;
  /** The smallest useful grant. */
  readonly need: number;
  /** The sum of all reserves that asked for room. */
  readonly sum: number;
  readonly ahead: number;
  readonly hard: boolean;
  /** The store is slow, so this slice has to last for a burst of requests. */
  readonly isSlow: boolean;
}

export const shareOf = ({ free, live }: Pick<Demand, 'free' | 'live'>): number => Math.floor(free / (4 * live));

export function wantOf(demand: Demand): number {
  const { free, live, need, sum, hard, isSlow } = demand;
  const ahead = Math.min(MAX_NANO, Math.max(need, demand.ahead, 8 * Math.ceil(sum)));
  if (!hard) return ahead;
  // Near the cap slices are single requests, so that little room lies idle.
  if (free < 2 * live * need) return need;
  const share = shareOf(demand);
  return Math.max(need, isSlow ? share : Math.min(share, ahead));
}
