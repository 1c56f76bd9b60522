import type { PriceRule } from '../../../../schemas/types.generated.ts';
import { geoOf } from '../../../core/record/costs.ts';
import { TOKEN_FIELDS } from '../../../core/record/fields/attempt-fields.ts';
import type { PriceQuestion, PriceQuote } from '../../../core/ports/prices.ts';
import type { Extras } from '../../../core/settings/source/extra-files.ts';
import type { Usage } from '../../../formats/events.ts';
import { PriceList } from '../prices/price-list.ts';
import { compilePrices, ownPrices, priceFilesOf } from '../settings/price-files.ts';
import { dayOf } from './recorded-cost.ts';

export const pricedModels = (extras: Extras, provider: string, kind: string): readonly string[] =>
  priceFilesOf({ extras })
    .table.list()
    .flatMap((one) => (one.provider === provider && (one.row.kind ?? 'chat') === kind ? [one.model] : []));

/** The counts of a record at other places: in the standard tier, because vendors have tiers of their own. */
export function quoteCosts(extras: Extras, { tokens, places, rules, at }: PriceQuestion): readonly PriceQuote[] {
  const { prices } = ownPrices({ extras, stored: undefined });
  // The API has checked the rules of the store.
  const all = { prices: [...prices, ...(rules as readonly PriceRule[])] };
  const list = new PriceList(compilePrices(all), priceFilesOf({ extras }).table);
  const [usage, day] = [usageOf(tokens), dayOf(at)];
  return places.map(({ region, ...place }) => {
    const cost = list.cost(usage, { ...place, region, geo: geoOf(place.provider, region), day });
    return typeof cost === 'number' ? { nano: cost, unknown: undefined } : { nano: undefined, unknown: cost };
  });
}

/** The names of `tokens` in records are those of the table of its fields. */
function usageOf(tokens: PriceQuestion['tokens']): Usage {
  const counts = TOKEN_FIELDS.flatMap((field): [string, number][] => {
    const count = tokens[field.record ?? ''];
    return field.as === 'plain' && typeof field.value === 'string' && typeof count === 'number'
      ? [[field.value, count]]
      : [];
  });
  const known: Partial<Usage> = Object.fromEntries(counts);
  const { input = 0, output = 0 } = known;
  return { ...known, input, output, total: input + output };
}
