import { objectOf } from '../../../../formats/json/object.ts';

/** Prices that other tables and ours have in common: USD per million tokens. */
export const COMPARED = ['input', 'cached', 'write5m', 'output'] as const;
export type ComparedKind = (typeof COMPARED)[number];

export interface OtherPrice {
  readonly provider: string;
  readonly model: string;
  readonly usd: Readonly<Partial<Record<ComparedKind, number>>>;
}

type Names = Readonly<Record<string, string>>;

/** Our providers by the names of models.dev. */
const MODELS_DEV: Names = {
  openai: 'openai',
  azure: 'azure-openai',
  anthropic: 'anthropic',
  google: 'google-ai-studio',
  'google-vertex': 'vertex-ai',
  'google-vertex-anthropic': 'vertex-ai',
};

/** Our providers by `litellm_provider`. */
const LITELLM: Names = {
  openai: 'openai',
  azure: 'azure-openai',
  anthropic: 'anthropic',
  gemini: 'google-ai-studio',
  'vertex_ai-language-models': 'vertex-ai',
  'vertex_ai-anthropic_models': 'vertex-ai',
  'vertex_ai-mistral_models': 'vertex-ai',
  'vertex_ai-llama_models': 'vertex-ai',
};

const LITELLM_KINDS: Readonly<Record<ComparedKind, string>> = {
  input: 'input_cost_per_token',
  cached: 'cache_read_input_token_cost',
  write5m: 'cache_creation_input_token_cost',
  output: 'output_cost_per_token',
};
const MODELS_DEV_KINDS: Readonly<Record<ComparedKind, string>> = {
  input: 'input',
  cached: 'cache_read',
  write5m: 'cache_write',
  output: 'output',
};

/**
 * The prices of a table of LiteLLM (`model_prices_and_context_window.json`) or of models.dev (`api.json`). Undefined: it has neither
 * form. Both write 0 for a price that they do not know; it is left out.
 */
export function otherPrices(document: unknown): readonly OtherPrice[] | undefined {
  const entries = Object.entries(objectOf(document) ?? {});
  const dev = entries.flatMap(([name, value]) => ofProvider(MODELS_DEV[name], objectOf(objectOf(value)?.models)));
  const lite = entries.flatMap(([name, value]) => ofEntry(name, objectOf(value)));
  const prices = [...dev, ...lite];
  return prices.length > 0 ? prices : undefined;
}

type Fields = Readonly<Record<string, unknown>>;

function ofProvider(provider: string | undefined, models: Fields | undefined): readonly OtherPrice[] {
  if (provider === undefined || !models) return [];
  return Object.entries(models).flatMap(([model, value]) =>
    priced(provider, model, pricesOf(objectOf(objectOf(value)?.cost), MODELS_DEV_KINDS, 1)),
  );
}

function ofEntry(name: string, entry: Fields | undefined): readonly OtherPrice[] {
  const provider = typeof entry?.litellm_provider === 'string' ? LITELLM[entry.litellm_provider] : undefined;
  if (provider === undefined) return [];
  return priced(provider, name.slice(name.lastIndexOf('/') + 1), pricesOf(entry, LITELLM_KINDS, 1e6));
}

const priced = (provider: string, model: string, usd: OtherPrice['usd']): readonly OtherPrice[] =>
  Object.keys(usd).length === 0 ? [] : [{ provider, model, usd }];

const pricesOf = (
  fields: Fields | undefined,
  kinds: Readonly<Record<ComparedKind, string>>,
  factor: number,
): OtherPrice['usd'] =>
  Object.fromEntries(
    COMPARED.flatMap((kind) => {
      const usd = fields?.[kinds[kind]];
      // Six decimals, as our prices have: binary fractions of a price of one token have more.
      return typeof usd === 'number' && usd > 0 ? [[kind, Number((usd * factor).toFixed(6))]] : [];
    }),
  );
