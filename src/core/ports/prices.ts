import type { Extras } from '../settings/source/extra-files.ts';

/** The prices of models, for other add-ons. An add-on has them. */
export interface PricePort {
  /** The shipped price of a model at a provider. Undefined: none is shipped. */
  of(provider: string, model: string): ShippedPrice | undefined;
  /** Extras with this rule in place of those of prices.yaml, for a check of it. @param rule valid by the schema */
  withRule(extras: Extras, rule: object): Extras;
}

export interface ShippedPrice {
  /** The day on which the sources were read. */
  readonly asOf: string;
  /** USD per million tokens, by the names of prices.yaml. */
  readonly usd: Readonly<Record<string, number>>;
}
