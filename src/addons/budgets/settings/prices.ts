import type { PricesFile, PriceRule, UsdPrices } from '../../../../schemas/types.generated.ts';
import { picoOf } from '../../../core/ports/money.ts';
import type { PriceOverride } from '../prices/priced-place.ts';
import { PRICE_KINDS, type Prices } from '../prices/rates.ts';

/** The prices of a rule. `pico` is undefined for a price with more decimals than count. */
export const pricesGiven = (usd: UsdPrices) =>
  PRICE_KINDS.flatMap(({ kind, yaml: name, per }) => {
    const price = usd[name];
    return price === undefined ? [] : [{ name, kind, usd: price, pico: picoOf(price, per) }];
  });

/** The operator's prices in the order of the file. */
export const compilePrices = ({ prices }: PricesFile): readonly PriceOverride[] => prices.map(compileRule);

function compileRule({ id: _, entry, usd, long, source: __, ...rule }: PriceRule): PriceOverride {
  return {
    ...rule,
    entry: entry?.slice(1),
    prices: usd && picoPrices(usd),
    long: long && { over: long.over, prices: picoPrices(long.usd) },
  };
}

const picoPrices = (usd: UsdPrices): Prices =>
  Object.fromEntries(pricesGiven(usd).map(({ kind, pico }) => [kind, pico]));
