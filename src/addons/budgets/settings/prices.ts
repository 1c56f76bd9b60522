import type { PricesFile, PriceRule, UsdPrices } from '../../../../schemas/types.generated.ts';
import { picoOf } from '../../../core/ports/money.ts';
import type { PriceOverride } from '../prices/priced-place.ts';
import type { PriceKind, Prices } from '../prices/rates.ts';

/** The kinds by their names in prices.yaml, and the units that a price is for. */
const KINDS: Readonly<Record<keyof UsdPrices, readonly [kind: PriceKind, per: number]>> = {
  input: ['input', 1e6],
  cached: ['cached', 1e6],
  write_5m: ['write5m', 1e6],
  write_1h: ['write1h', 1e6],
  output: ['output', 1e6],
  audio_in: ['audioIn', 1e6],
  audio_cached: ['audioCached', 1e6],
  image_in: ['imageIn', 1e6],
  image_cached: ['imageCached', 1e6],
  audio_out: ['audioOut', 1e6],
  image_out: ['imageOut', 1e6],
  search: ['search', 1e3],
  file_search: ['fileSearch', 1e3],
  map_search: ['mapSearch', 1e3],
  container: ['container', 1],
  image: ['image', 1],
  second: ['second', 1],
};
const NAMES = Object.keys(KINDS) as readonly (keyof UsdPrices)[];

/** Undefined for a price with more decimals than count. */
export const picoOfPrice = (name: keyof UsdPrices, usd: number): number | undefined => picoOf(usd, KINDS[name][1]);

export const pricesGiven = (usd: UsdPrices): readonly (readonly [name: keyof UsdPrices, usd: number])[] =>
  NAMES.flatMap((name) => (usd[name] === undefined ? [] : [[name, usd[name]] as const]));

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
  Object.fromEntries(pricesGiven(usd).map(([name, value]) => [KINDS[name][0], picoOfPrice(name, value)]));
