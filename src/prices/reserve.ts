import type { Nano } from './money.ts';
import type { PricedPlace, PriceList, UnknownPrice } from './price-list.ts';
import type { PriceTier } from './rates.ts';

/** A picture, sound, film or document of a prompt. */
export interface PromptMedium {
  readonly kind: 'image' | 'audio' | 'video' | 'document';
  /** Of the medium itself, not of its base64; undefined: the provider reads it at an address. */
  readonly bytes?: number | undefined;
}

/** What a request asks for, before it is sent. */
export interface Asked {
  /** Bytes of the prompt that are text, tools and schemas among it, without media. */
  readonly textBytes: number;
  readonly media?: readonly PromptMedium[] | undefined;
  /** The most tokens of an answer, reasoning included: the request's own limit, else that of the gateway config. */
  readonly maxOutput?: number | undefined;
  /** `max_out` and the context window of the table of models; undefined: not known. */
  readonly tableOutput?: number | undefined;
  readonly window?: number | undefined;
  /** `n`, `candidateCount`. Default: 1. */
  readonly answers?: number | undefined;
  /** The prompt is marked for a cache of the provider, for 5 minutes (or the provider's own time), or for an hour. */
  readonly cacheWrite?: '5m' | '1h' | undefined;
  /** The service tier asked for; undefined: the standard one. */
  readonly tier?: PriceTier | undefined;
  /** Anthropic's `speed: fast`. */
  readonly fast?: boolean | undefined;
  /** Pictures to be made, seconds of sound to be read, searches at most. */
  readonly images?: number | undefined;
  readonly seconds?: number | undefined;
  readonly searches?: number | undefined;
}

/** What earlier requests to the model used; undefined: too few to tell. */
export interface Learned {
  /** Tokens of the prompt by byte of its text, at the 99.9th percentile and at the 99th. */
  readonly ratioP999?: number | undefined;
  readonly ratioP99?: number | undefined;
  /** Tokens of the answers, at the 99th percentile. */
  readonly outputP99?: number | undefined;
}

/** `bound`: the most that the request can cost, but for tools of the provider. `typical`: what 99 of 100 cost at most. */
export type ReserveMode = 'bound' | 'typical';

/** The dearest admissible price of a request, or why it is unknown. Pure. */
export function reserve(
  _prices: PriceList,
  _asked: Asked,
  _place: PricedPlace,
  _learned: Learned = {},
  _mode: ReserveMode = 'bound',
): Nano | UnknownPrice {
  return 'model';
}
