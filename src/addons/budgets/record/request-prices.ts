import type { RequestPrices } from '../../../core/record/costs.ts';
import type { PriceList } from '../prices/price-list.ts';
import { placeOf } from './cost-place.ts';
import { payerOf } from './payer.ts';
import { costOfVectors, recordCosts } from './recorded-cost.ts';

const known = new WeakMap<PriceList, RequestPrices>();

/** The prices of a list for the records of requests. One object for each list: requests make none. */
export function requestPrices(list: PriceList): RequestPrices {
  let prices = known.get(list);
  if (!prices) {
    prices = {
      costsOf: (exchange, attempt, basis) => recordCosts(exchange, attempt, list, basis),
      costOfVectors: (call, receivedAt) => costOfVectors(call, list, receivedAt),
      knows: (resolved, receivedAt) =>
        list.rating({ prompt: 0 }, placeOf(resolved, undefined, undefined, receivedAt)) !== 'model',
      payerOf: (exchange, receivedAt) => payerOf(exchange, list, receivedAt),
    };
    known.set(list, prices);
  }
  return prices;
}
