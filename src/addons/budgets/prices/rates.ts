import type { Fraction, Pico } from '../../../core/ports/money.ts';

/** The kinds of units that have a price: tokens by kind, then units that are counted by the piece. */
export const TOKEN_KINDS = [
  'input',
  'cached',
  'write5m',
  'write1h',
  'output',
  'audioIn',
  'audioCached',
  'imageIn',
  'imageCached',
  'audioOut',
  'imageOut',
] as const;
type TokenKind = (typeof TOKEN_KINDS)[number];
/** Searches in the web, in files and in maps, containers for code, pictures made, seconds of sound. */
type UnitKind = 'search' | 'fileSearch' | 'mapSearch' | 'container' | 'image' | 'second';
export type PriceKind = TokenKind | UnitKind;

export type Prices = Readonly<Partial<Record<PriceKind, Pico>>>;

/** Service tiers with prices of their own. */
export type PriceTier = 'batch' | 'flex' | 'priority';

/** Prices from a day on. */
export interface PriceStep {
  /** UTC; empty: they have always held. */
  readonly from: string;
  readonly prices: Prices;
  /** Replaces the same prices for the whole request if its prompt has more than `over` tokens. */
  readonly long?: { readonly over: number; readonly prices: Prices };
}

/** The shipped prices of one model. */
export interface PriceRow {
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
  const isByUnit = prices.image !== undefined && TOKEN_KINDS.every((kind) => prices[kind] === undefined);
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
