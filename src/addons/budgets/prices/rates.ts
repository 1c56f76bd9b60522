import type { Fraction, Pico } from '../../../core/ports/money.ts';

/** Prices of tokens are for so many. */
export const TOKENS = 1e6;

/** The kinds of units that have a price, their names in prices.yaml and data/models.json, and the units that a price is for. */
export const PRICE_KINDS = [
  { kind: 'input', yaml: 'input', source: 'in', per: TOKENS },
  { kind: 'cached', yaml: 'cached', source: 'cin', per: TOKENS },
  { kind: 'write5m', yaml: 'write_5m', source: 'cw5', per: TOKENS },
  { kind: 'write1h', yaml: 'write_1h', source: 'cw1h', per: TOKENS },
  { kind: 'output', yaml: 'output', source: 'out', per: TOKENS },
  { kind: 'audioIn', yaml: 'audio_in', source: 'audio_in', per: TOKENS },
  { kind: 'audioCached', yaml: 'audio_cached', source: 'audio_cin', per: TOKENS },
  { kind: 'imageIn', yaml: 'image_in', source: 'image_in', per: TOKENS },
  { kind: 'imageCached', yaml: 'image_cached', source: 'image_cin', per: TOKENS },
  { kind: 'audioOut', yaml: 'audio_out', source: 'audio_out', per: TOKENS },
  { kind: 'imageOut', yaml: 'image_out', source: 'image_out', per: TOKENS },
  { kind: 'search', yaml: 'search', source: 'search_k', per: 1e3 },
  { kind: 'fileSearch', yaml: 'file_search', source: 'file_search_k', per: 1e3 },
  { kind: 'mapSearch', yaml: 'map_search', source: 'map_search_k', per: 1e3 },
  // Containers for code, pictures made, seconds of sound.
  { kind: 'container', yaml: 'container', source: 'container', per: 1 },
  { kind: 'image', yaml: 'image', source: 'per_image', per: 1 },
  { kind: 'second', yaml: 'second', source: 'per_second_in', per: 1 },
] as const;
export type PriceKind = (typeof PRICE_KINDS)[number]['kind'];

export type Prices = Readonly<Partial<Record<PriceKind, Pico>>>;

/** Service tiers with prices of their own. */
export type PriceTier = 'batch' | 'flex' | 'priority';

export interface PriceStep {
  /** UTC; empty: they have always held. */
  readonly from: string;
  readonly prices: Prices;
  /** Replaces the same prices for the whole request if its prompt has more than `over` tokens. */
  readonly long?: { readonly over: number; readonly prices: Prices };
}

export const stepOn = ({ steps }: PriceRow, day: string): PriceStep | undefined =>
  steps.findLast(({ from }) => from <= day);

export interface PriceRow {
  /** `embedding`, `image` and others of data/models.json. Default: chat. */
  readonly kind?: string;
  readonly steps: readonly PriceStep[];
  /** A factor on token prices, or the prices themselves. */
  readonly tiers?: Readonly<Partial<Record<PriceTier, number | Prices>>>;
  /** Factors on token prices by where a request is processed. */
  readonly geo?: Readonly<Record<string, number>>;
  /** Factor on token prices of Anthropic's `speed: fast`. */
  readonly fast?: number;
  /** once: a request pays one search, however many it made. each: every request pays one. Default: each search is paid. */
  readonly searches?: 'once' | 'each';
}

/** Each kind with the price that it has or takes over. Undefined: the kind has no known price. */
export type Rates = Readonly<Record<PriceKind, Pico | undefined>>;

/** A kind without a price costs as its parent: the kind of which it is a part. */
export function ratesOf(prices: Prices): Rates {
  // A model that is priced by the picture alone charges no tokens.
  const isByUnit =
    prices.image !== undefined && PRICE_KINDS.every(({ kind, per }) => per !== TOKENS || prices[kind] === undefined);
  const input = prices.input ?? (isByUnit ? 0 : undefined);
  const output = prices.output ?? (isByUnit ? 0 : undefined);
  const cached = prices.cached ?? input;
  return {
    input,
    cached,
    write5m: prices.write5m ?? input,
    write1h: prices.write1h ?? (input === undefined ? undefined : 2 * input),
    output,
    audioIn: prices.audioIn ?? input,
    audioCached: prices.audioCached ?? cached,
    imageIn: prices.imageIn ?? input,
    imageCached: prices.imageCached ?? cached,
    audioOut: prices.audioOut ?? output,
    imageOut: prices.imageOut ?? output,
    search: prices.search,
    fileSearch: prices.fileSearch,
    mapSearch: prices.mapSearch,
    container: prices.container,
    image: prices.image,
    second: prices.second,
  };
}

/** The prices of a request by kind, and the factor on its tokens. */
export interface Rating {
  readonly rates: Rates;
  readonly tokens: Fraction;
  /** On tools, pictures and seconds, which tiers and regions leave as they are. */
  readonly units: Fraction;
  readonly searches?: PriceRow['searches'];
}

/** Why a request has no cost: no row for its model, no price on its day, in its tier, or for a kind of what it used. */
export type UnknownPrice = 'model' | 'date' | 'tier' | 'kind';

/** The facts besides its usage that decide the price of a request. */
export interface PricedPlace {
  /** Slug of the catalog entry. */
  readonly entry: string;
  readonly provider: string;
  readonly model: string;
  /** A host that the caller chose: only rules for it apply, and no shipped price. */
  readonly customHost?: string | undefined;
  /** Where it is processed: `global`, `europe-west1`; undefined: the provider has no regions, or does not say. */
  readonly region: string | undefined;
  /** The kind of region by which the shipped prices differ: `regional`, `us`. */
  readonly geo: string | undefined;
  /** UTC, `2026-11-23`. */
  readonly day: string;
}

/** Prices of the operator, which stand before those of the table. */
export interface PriceOverride {
  readonly entry?: string | undefined;
  readonly provider?: string | undefined;
  /** Hosts of callers; `*` stands for any text. Rules without it are for the entries of the catalog. */
  readonly host?: string | undefined;
  /** `*` stands for any text. */
  readonly model: string;
  readonly region?: string | undefined;
  /** `standard`: requests of no other tier. */
  readonly tier?: PriceTier | 'standard' | undefined;
  readonly from?: string | undefined;
  /** The last day. */
  readonly until?: string | undefined;
  /** Replace the shipped prices of the same kinds; of a rule for a tier or a region, its factor is in them. */
  readonly prices?: Prices | undefined;
  /** `false`: no other prices for long prompts. */
  readonly long?: { readonly over: number; readonly prices: Prices } | false | undefined;
  /** On all prices; of a rule for a tier or a region, in place of its shipped factor. */
  readonly factor?: number | undefined;
}
