import type { Extras } from '../settings/source/extra-files.ts';
import type { Nano } from './money.ts';

/** The prices of models, for other add-ons. An add-on has them. */
export interface PricePort {
  /** The shipped price of a model at a provider. Undefined: none is shipped. */
  of(provider: string, model: string): ShippedPrice | undefined;
  /** Extras with this rule in place of those of prices.yaml, for a check of it. @param rule valid by the schema */
  withRule(extras: Extras, rule: object): Extras;
  /** Names of models of a kind, such as `chat` and `embedding`, that have a shipped price at a provider. */
  models(extras: Extras, provider: string, kind: string): readonly string[];
  /** The cost of the same counts at each of these places. */
  quote(extras: Extras, question: PriceQuestion): readonly PriceQuote[];
}

export interface PriceQuestion {
  /** `tokens` of an attempt in a record. */
  readonly tokens: Readonly<Record<string, unknown>>;
  readonly places: readonly QuotedPlace[];
  /** Rules of the state store, valid by the schema. They follow those of prices.yaml. */
  readonly rules: readonly object[];
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface QuotedPlace {
  /** Slug of the catalog entry. */
  readonly entry: string;
  readonly provider: string;
  readonly region: string | undefined;
  readonly model: string;
}

/** One of the two is undefined: an unknown cost is not 0, and `unknown` says why. */
export interface PriceQuote {
  readonly nano: Nano | undefined;
  readonly unknown: string | undefined;
}

export interface ShippedPrice {
  /** The day on which the sources were read. */
  readonly asOf: string;
  /** USD per million tokens, by the names of prices.yaml. */
  readonly usd: Readonly<Record<string, number>>;
}
