import { partOf } from '../../core/process/add-on-parts.ts';
import type { Draft, DraftPart } from './draft.ts';
import type { ForeignItem } from './source.ts';

const PRICES: Readonly<Record<string, readonly [kind: string, per: number]>> = {
  input_cost_per_token: ['input', 1e6],
  output_cost_per_token: ['output', 1e6],
  cache_read_input_token_cost: ['cached', 1e6],
  cache_creation_input_token_cost: ['write_5m', 1e6],
  input_cost_per_audio_token: ['audio_in', 1e6],
  output_cost_per_audio_token: ['audio_out', 1e6],
  output_cost_per_image: ['image', 1],
  input_cost_per_second: ['second', 1],
};

/** False: the file has none. */
export function addPrices(
  draft: Draft,
  slug: string,
  model: string,
  places: readonly (ForeignItem | undefined)[],
): boolean {
  const usd: Record<string, number> = {};
  for (const place of places)
    for (const [name, [kind, per]] of Object.entries(PRICES)) {
      const price = place?.get(name)?.number();
      if (price !== undefined) usd[kind] = Number((price * per).toPrecision(12));
    }
  return Object.keys(usd).length > 0 && addRule(draft, { model, entry: `@${slug}`, usd });
}

/** Before a request is sent, its budget looks the price up by the name of the deployment, which no table has. */
export function addShippedPrice(draft: Draft, slug: string, deployment: string, model: string): void {
  const price = partOf('prices')?.of('azure-openai', model);
  if (!price) return;
  const { asOf, usd } = price;
  addRule(draft, { model: deployment, entry: `@${slug}`, usd, source: `the shipped price of ${model}, ${asOf}` });
}

function addRule(draft: Draft, rule: DraftPart): true {
  if (!draft.prices.some((one) => JSON.stringify(one) === JSON.stringify(rule))) draft.prices.push(rule);
  return true;
}
