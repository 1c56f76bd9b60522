import type { PriceTier, Prices } from './rates.ts';

/** Why a request has no cost: no row for its model, no price on its day, in its tier, or for a kind of what it used. */
export const UNKNOWN_PRICES = ['model', 'date', 'tier', 'kind'] as const;
export type UnknownPrice = (typeof UNKNOWN_PRICES)[number];

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
