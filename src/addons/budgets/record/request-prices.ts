import type { Exchange } from '../../../core/kernel/index.ts';
import type { Reply } from '../../../plugin/index.ts';
import { uuidv7 } from '../../../core/kernel/ids.ts';
import { usdText } from '../../../core/ports/money.ts';
import { endOfAttempt } from '../../../core/record/attempt-end.ts';
import { believedUsage } from '../../../core/record/booked-usage.ts';
import { totalCost, type Payer, type RequestPrices } from '../../../core/record/costs.ts';
import type { PriceList, PricesInForce } from '../prices/price-list.ts';
import { costOfVectors, recordCosts, placeOf } from './recorded-cost.ts';

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

const UUID = /^([0-9a-f]{8})([0-9a-f]{4})(7[0-9a-f]{3})([89ab][0-9a-f]{3})([0-9a-f]{12})$/;

/** The id of a request in the ledger: the base of the ids of its reply. */
const ledgerIdOf = ({ replyId }: Pick<Exchange, 'replyId'>, wallMs: number): string =>
  UUID.test(replyId) ? replyId.replace(UUID, '$1-$2-$3-$4-$5') : uuidv7(wallMs);

export function payerOf({ id, replyId, caller }: Exchange, prices: PriceList, wallMs: number): Payer {
  const req = ledgerIdOf({ replyId }, wallMs);
  return {
    req,
    requestId: id === req ? '' : id,
    organization: caller?.organization,
    user: caller?.owner,
    priceVersion: prices.version,
  };
}

export class CostHeader {
  readonly #prices: PricesInForce;

  constructor(prices: PricesInForce) {
    this.#prices = prices;
  }

  /**
   * USD with all digits, or `unknown`. Undefined for a reply that has not arrived whole, such as a stream, and for a request that reached
   * no target.
   * @param receivedAt wall clock
   */
  of(exchange: Exchange, { status, body, stream }: Reply, receivedAt: number): string | undefined {
    const { attempts, error } = exchange;
    if (stream || !Buffer.isBuffer(body) || attempts.length === 0) return undefined;
    const prices = this.#prices.at(exchange.startedAt);
    const end = { state: 'complete', status, bytes: 0, error } as const;
    const costs = attempts.map((attempt) => {
      const { errorCode } = endOfAttempt(exchange, attempt, end);
      const believed = believedUsage(attempt, attempt.signals, exchange.request.bodyBytes);
      const { cost, lost } = recordCosts(exchange, attempt, prices, { errorCode, receivedAt, believed });
      const vectors = costOfVectors(attempt.semantic?.embedding, prices, receivedAt);
      return { cost, lostCosts: lost, semantic: { embedding: { cost: vectors } } };
    });
    const total = totalCost(costs);
    return total?.unknown === undefined ? usdText(total?.nano ?? 0) : 'unknown';
  }
}
