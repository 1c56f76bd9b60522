import { fractionOf, ONE, times, type Fraction } from '../../../core/ports/money.ts';
import type { PriceOverride, PricedPlace, UnknownPrice } from './priced-place.ts';
import {
  ratesOf,
  type PriceRow,
  type PriceStep,
  type Prices,
  type PriceTier,
  type Rates,
  type Rating,
} from './rates.ts';

export interface Terms {
  readonly tier?: PriceTier | undefined;
  readonly fast?: boolean | undefined;
  readonly prompt: number;
  /** Before the request is sent, what no source tells counts as the dearest of what they tell of others. */
  readonly assumed?: boolean;
}

/** Of regional locations of Google Cloud: Claude from 4.5 on and Gemini from 3.5 on (data/models.json). No source has older ones. */
const ASSUMED_REGIONAL = fractionOf(1.1);

interface RatedStep {
  readonly from: string;
  readonly rates: Rates;
  readonly over: number;
  readonly long: Rates;
  /** Prices of tiers that are no factor. */
  readonly tiers: Readonly<Partial<Record<PriceTier, { readonly rates: Rates; readonly long: Rates }>>>;
}

export class ModelPrices {
  /** The newest first. */
  readonly #steps: readonly RatedStep[];
  readonly #tiers: Readonly<Partial<Record<PriceTier, Fraction>>>;
  readonly #geo: Readonly<Record<string, Fraction>>;
  readonly #hasRegion: boolean;
  readonly #fast: Fraction | undefined;
  readonly #all: Fraction;
  readonly #searches: PriceRow['searches'];

  constructor(row: PriceRow, rule?: PriceOverride) {
    const steps = rule?.prices && row.steps.length === 0 ? [{ from: '', prices: {} }] : row.steps;
    // A rule's factor of a tier or a region replaces the shipped one.
    const tiers = rule?.tier === undefined ? row.tiers : { ...row.tiers, [rule.tier]: 1 };
    this.#steps = steps.map((step) => ratedStep(overridden(step, rule), tiers)).toReversed();
    this.#tiers = fractions(tiers ?? {});
    this.#hasRegion = rule?.region !== undefined;
    this.#geo = this.#hasRegion ? {} : fractions(row.geo ?? {});
    this.#fast = row.fast === undefined ? undefined : fractionOf(row.fast);
    this.#searches = row.searches;
    this.#all = rule?.factor === undefined ? ONE : fractionOf(rule.factor);
  }

  /** The price of each kind for a request, or why it is unknown. */
  rating({ tier, fast, prompt, assumed }: Terms, { day, geo }: PricedPlace): Rating | UnknownPrice {
    const step = this.#steps.find(({ from }) => from <= day);
    if (!step) return this.#steps.length === 0 ? 'model' : 'date';
    const own = tier && step.tiers[tier];
    const rates = prompt > step.over ? (own ?? step).long : (own ?? step).rates;
    const byTier = tier === undefined || own ? ONE : (this.#tiers[tier] ?? (tier === 'priority' ? undefined : ONE));
    const byFast = fast ? this.#fast : ONE;
    if (!byTier || !byFast) return 'tier';
    const known = geo === undefined ? ONE : this.#geo[geo];
    const guessed = !known && assumed && geo === 'regional' && !this.#hasRegion ? ASSUMED_REGIONAL : ONE;
    return {
      rates,
      tokens: times(times(byTier, byFast), times(known ?? guessed, this.#all)),
      units: times(guessed, this.#all),
      searches: this.#searches,
    };
  }
}

function overridden({ from, prices, long }: PriceStep, rule: PriceOverride | undefined): PriceStep {
  const longer = rule?.long === undefined ? long : rule.long;
  return { from, prices: { ...prices, ...rule?.prices }, ...(longer && { long: longer }) };
}

function ratedStep({ from, prices, long }: PriceStep, tiers: PriceRow['tiers'] = {}): RatedStep {
  const longRates = ratesOf({ ...prices, ...long?.prices });
  const own = Object.entries(tiers).filter(([, tier]) => typeof tier === 'object');
  return {
    from,
    rates: ratesOf(prices),
    over: long?.over ?? Infinity,
    long: longRates,
    tiers: Object.fromEntries(
      own.map(([name, tier]) => {
        const rates = ratesOf({ ...prices, ...Object(tier) });
        // No source has prices of long prompts for a tier with prices of its own: each kind has the higher of the two.
        return [name, { rates, long: higher(rates, longRates) }];
      }),
    ),
  };
}

const higher = (one: Rates, other: Rates): Rates =>
  ratesOf(
    Object.fromEntries(Object.entries(one).map(([kind, price]) => [kind, maxOf(price, other[kind as keyof Rates])])),
  );

const maxOf = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined ? other : Math.max(one, other ?? 0);

function fractions(values: Readonly<Record<string, number | Prices>>): Record<string, Fraction> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (typeof value === 'number' ? [[name, fractionOf(value)]] : [])),
  );
}
