import { PriceList } from '../../prices/price-list.ts';
import type { UnknownPrice } from '../../prices/rates.ts';
import { compilePrices, ownPrices, priceFilesOf } from '../../settings/price-files.ts';
import { readPrices, type PricesOptions } from './read.ts';

const REASONS: Readonly<Record<UnknownPrice, string>> = {
  model: 'no price is known',
  date: 'no price is known for this day',
  tier: 'no price is known for this tier',
  kind: 'no price of input or output is known',
};

/** `gatehouse prices check`. Exit code 0: each listed model has a price; 1: not, or errors in the settings; 2: no such folder. */
export async function checkPricesCommand(options: PricesOptions): Promise<0 | 1 | 2> {
  const { day, out } = options;
  const settings = await readPrices(options);
  if (typeof settings === 'number') return settings;
  const list = new PriceList(compilePrices(ownPrices(settings)), priceFilesOf(settings).table);
  let unknown = 0;
  for (const { slug, provider, models = [] } of settings.catalog.providers)
    for (const model of models.filter((name) => !name.includes('*'))) {
      const place = { entry: slug, provider, model, region: undefined, geo: undefined, day };
      const cost = list.cost({ input: 1, output: 0, total: 1 }, place);
      if (typeof cost === 'number') continue;
      unknown += 1;
      out(`@${slug}/${model}: ${REASONS[cost]}\n`);
    }
  const ended = ownPrices(settings).prices.filter(({ until }) => until !== undefined && until < day);
  for (const { model, until } of ended) out(`prices.yaml: the rule of ${model} ended on ${until}\n`);
  if (unknown === 0) out(`prices.yaml: ${ownPrices(settings).prices.length} rules; every listed model has a price\n`);
  return unknown === 0 ? 0 : 1;
}
