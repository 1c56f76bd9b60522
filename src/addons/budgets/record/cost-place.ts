import { geoOf } from '../../../core/record/costs.ts';
import type { Usage } from '../../../formats/events.ts';
import type { ResolvedTarget } from '../../../core/kernel/index.ts';
import type { Nano } from '../../../core/ports/money.ts';
import type { PriceList } from '../prices/price-list.ts';
import type { PricedPlace, UnknownPrice } from '../prices/priced-place.ts';

interface RequestedPlace extends PricedPlace {
  /** The model that the request names. */
  readonly asked: string;
}

/**
 * Where a request was processed, and by which model.
 *
 * @param answered the model that the provider reports
 */
export function placeOf(
  {
    slug,
    provider,
    model,
    region,
    customHost,
  }: Pick<ResolvedTarget, 'slug' | 'provider' | 'model' | 'region' | 'customHost'>,
  usage: Usage | undefined,
  answered: string | undefined,
  receivedAt: number,
): RequestedPlace {
  const geo = usage?.geo ?? geoOf(provider, region);
  const day = dayOf(receivedAt);
  return { entry: slug, provider, model: answered ?? model, asked: model, customHost, region, geo, day };
}

/** Of all models that the provider called. It is unknown where the price of one is. */
export function priceOf(prices: PriceList, usage: Usage, place: RequestedPlace): Nano | UnknownPrice {
  let cost = priceOfModel(prices, usage, place);
  for (const { model, usage: used } of usage.otherModels ?? []) {
    if (typeof cost === 'string') break;
    const other = model === undefined ? 'model' : prices.cost(used, { ...place, model, geo: used.geo ?? place.geo });
    cost = typeof other === 'string' ? other : cost + other;
  }
  return cost;
}

/** By the model that answered; if it has no price, by the model of the request. */
function priceOfModel(prices: PriceList, usage: Usage, place: RequestedPlace): Nano | UnknownPrice {
  const { model, asked } = place;
  const cost = prices.cost(usage, place);
  return cost !== 'model' || model === asked ? cost : prices.cost(usage, { ...place, model: asked });
}

const DAY_MS = 86_400_000;
let latestDay = { number: -1, text: '' };

/** UTC. Nearly all requests have the day of the one before. */
export function dayOf(wallMs: number): string {
  const number = Math.floor(wallMs / DAY_MS);
  if (number !== latestDay.number) latestDay = { number, text: new Date(number * DAY_MS).toISOString().slice(0, 10) };
  return latestDay.text;
}
