import type { RequestLedger } from '../../addons/budgets/ledger/request-ledger.ts';
import type { PriceList } from '../../addons/budgets/prices/price-list.ts';

/** The costs of requests. An add-on has them. */
export interface Costs {
  /** The prices at a moment, in milliseconds since 1970. */
  readonly prices: (at: number) => PriceList;
  /** Undefined: costs are written nowhere. */
  readonly ledger: RequestLedger | undefined;
}
