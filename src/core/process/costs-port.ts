import type { CostLedger } from '../record/recorder.ts';
import type { RequestPrices } from '../record/costs.ts';

/** The costs of requests. An add-on has them. */
export interface Costs {
  /** The prices at a moment of the clock, in monotonic milliseconds. */
  readonly prices: (at: number) => RequestPrices;
  /** Undefined: costs are written nowhere. */
  readonly ledger: CostLedger | undefined;
}
