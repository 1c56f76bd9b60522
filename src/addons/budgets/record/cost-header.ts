import type { Exchange } from '../../../core/kernel/index.ts';
import type { Reply } from '../../../plugin/index.ts';
import { usdText } from '../../../core/ports/money.ts';
import type { PricesInForce } from '../prices/prices-in-force.ts';
import { endOfAttempt } from '../../../core/record/attempt-end.ts';
import { sumOfCosts, unknownOf } from '../../../core/record/costs.ts';
import { costOfVectors, recordCosts } from './recorded-cost.ts';

/** The cost of a request for a header of its reply. */
export class CostHeader {
  readonly #prices: PricesInForce;

  constructor(prices: PricesInForce) {
    this.#prices = prices;
  }

  /**
   * USD with all digits, or `unknown`. Undefined for a reply that has not arrived whole, such as a stream, and for a request that reached
   * no target.
   *
   * @param receivedAt wall clock
   */
  of(exchange: Exchange, { status, body, stream }: Reply, receivedAt: number): string | undefined {
    const { attempts, error } = exchange;
    if (stream || !Buffer.isBuffer(body) || attempts.length === 0) return undefined;
    const prices = this.#prices.at(exchange.startedAt);
    const end = { state: 'complete', status, bytes: 0, error } as const;
    const costs = attempts.map((attempt) => {
      const { errorCode } = endOfAttempt(exchange, attempt, end);
      const { cost, lost } = recordCosts(exchange, attempt, prices, { errorCode, receivedAt });
      const vectors = costOfVectors(attempt.semantic?.embedding, prices, receivedAt);
      return { cost, lostCosts: lost, semantic: { embedding: { cost: vectors } } };
    });
    return unknownOf(costs) === undefined ? usdText(sumOfCosts(costs, 'nano') ?? 0) : 'unknown';
  }
}
