import type { Usage } from '../formats/events.ts';
import { withoutVersion } from '../plugin/model-ids.ts';
import { costOf, promptTokens } from './cost.ts';
import { matches } from './model-pattern.ts';
import { fractionOf, ONE, type Fraction, type Nano } from './money.ts';
import { ratesOf, type PriceRow, type PriceStep, type Prices, type PriceTier, type Rates } from './rates.ts';
import { PRICE_ROWS, PRICES_AS_OF } from './table.generated.ts';

/** Why a request has no cost: no row for its model, no price on its day, in its tier, or for a kind of what it used. */
export const UNKNOWN_PRICES = ['model', 'date', 'tier', 'kind'] as const;
export type UnknownPrice = (typeof UNKNOWN_PRICES)[number];

/** What was asked, and where. */
export interface PricedPlace {
  /** Slug of the catalog entry. */
  readonly entry: string;
  readonly provider: string;
  readonly model: string;
  /** Where it is processed: `global`, `europe-west1`; undefined: the provider has no regions, or does not say. */
  readonly region: string | undefined;
  /** The kind of region by which the shipped prices differ: `regional`, `us`. */
  readonly geo: string | undefined;
  /** UTC, `2026-11-23`. */
  readonly day: string;
}

/** Prices of the operator, which stand before the shipped ones. */
export interface PriceOverride {
  readonly entry?: string | undefined;
  readonly provider?: string | undefined;
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

/** The shipped table: its rows by `provider/model`. */
const ROWS: ReadonlyMap<string, PriceRow> = new Map(
  PRICE_ROWS.flatMap(([providers, names, row]) =>
    providers
      .split(' ')
      .flatMap((provider) => names.split(' ').map((name): [string, PriceRow] => [`${provider}/${name}`, row])),
  ),
);

export const shippedPrices = (provider: string, model: string): PriceRow | undefined =>
  ROWS.get(`${provider}/${model}`) ?? ROWS.get(`${provider}/${withoutVersion(model)}`);

/** The shipped rows, one for each provider of a model, under the first of its names. */
export const shippedRows = (): readonly {
  readonly provider: string;
  readonly model: string;
  readonly row: PriceRow;
}[] =>
  PRICE_ROWS.flatMap(([providers, names, row]) =>
    providers.split(' ').map((provider) => ({ provider, model: names.split(' ')[0]!, row })),
  );

/** Callers write names of models, so that their number is bounded. */
const MAX_KNOWN = 1000;

/** Prices in force, by entry, provider, model, region, tier and day. */
export class PriceList {
  /** The day of the shipped table. */
  readonly asOf: string = PRICES_AS_OF;
  readonly #overrides: readonly PriceOverride[];
  readonly #known = new Map<string, Found>();
  /** Of the latest request: most requests need no search. */
  #latest: { readonly place: PricedPlace; readonly found: Found } | undefined;

  /** @param overrides the first that matches a request is in force */
  constructor(overrides: readonly PriceOverride[] = []) {
    this.#overrides = overrides;
  }

  /** The cost of a request, or why it is unknown. An unknown price is never 0. */
  cost(usage: Usage, place: PricedPlace): Nano | UnknownPrice {
    const { row, overrides } = this.#find(place);
    const override = overrides.find((one) => isFor(one.rule, place, usage.tier));
    if (override) return override.prices.cost(usage, place);
    return row ? row.cost(usage, place) : 'model';
  }

  #find(place: PricedPlace): Found {
    const latest = this.#latest;
    if (latest && isSameModel(latest.place, place)) return latest.found;
    const found = this.#search(place);
    this.#latest = { place, found };
    return found;
  }

  #search({ entry, provider, model }: PricedPlace): Found {
    const key = `${entry}\u0000${provider}\u0000${model}`;
    const known = this.#known.get(key);
    if (known) return known;
    const row = shippedPrices(provider, model);
    const found: Found = {
      row: row && new ModelPrices(row),
      overrides: this.#overrides
        .filter((rule) => isOfModel(rule, entry, provider, model))
        .map((rule) => ({ rule, prices: new ModelPrices(row ?? NO_ROW, rule) })),
    };
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(key, found);
    return found;
  }
}

const isSameModel = (one: PricedPlace, other: PricedPlace): boolean =>
  one.model === other.model && one.entry === other.entry && one.provider === other.provider;

const NO_ROW: PriceRow = { steps: [] };

interface Found {
  readonly row: ModelPrices | undefined;
  readonly overrides: readonly { readonly rule: PriceOverride; readonly prices: ModelPrices }[];
}

function isOfModel(rule: PriceOverride, entry: string, provider: string, model: string): boolean {
  return (
    (rule.entry === undefined || rule.entry === entry) &&
    (rule.provider === undefined || rule.provider === provider) &&
    (matches(rule.model, model) || matches(rule.model, withoutVersion(model)))
  );
}

function isFor(rule: PriceOverride, { region, geo, day }: PricedPlace, tier: PriceTier | undefined): boolean {
  return (
    (rule.tier === undefined || rule.tier === (tier ?? 'standard')) &&
    (rule.region === undefined || rule.region === region || rule.region === geo) &&
    (rule.from === undefined || rule.from <= day) &&
    (rule.until === undefined || rule.until >= day)
  );
}

interface RatedStep {
  readonly from: string;
  readonly rates: Rates;
  readonly over: number;
  readonly long: Rates;
  /** Prices of tiers that are no factor. */
  readonly tiers: Readonly<Partial<Record<PriceTier, Rates>>>;
}

/** The prices of one model, with all factors as fractions. */
class ModelPrices {
  /** The newest first. */
  readonly #steps: readonly RatedStep[];
  readonly #tiers: Readonly<Partial<Record<PriceTier, Fraction>>>;
  readonly #geo: Readonly<Record<string, Fraction>>;
  readonly #fast: Fraction | undefined;
  readonly #all: Fraction;

  constructor(row: PriceRow, rule?: PriceOverride) {
    const steps = rule?.prices && row.steps.length === 0 ? [{ from: '', prices: {} }] : row.steps;
    // What a rule says of a tier or a region stands in place of the shipped factor.
    const tiers = rule?.tier === undefined ? row.tiers : { ...row.tiers, [rule.tier]: 1 };
    this.#steps = steps.map((step) => ratedStep(overridden(step, rule), tiers)).toReversed();
    this.#tiers = fractions(tiers ?? {});
    this.#geo = rule?.region === undefined ? fractions(row.geo ?? {}) : {};
    this.#fast = row.fast === undefined ? undefined : fractionOf(row.fast);
    this.#all = rule?.factor === undefined ? ONE : fractionOf(rule.factor);
  }

  cost(usage: Usage, { day, geo }: PricedPlace): Nano | UnknownPrice {
    const step = this.#steps.find(({ from }) => from <= day);
    if (!step) return this.#steps.length === 0 ? 'model' : 'date';
    const { tier } = usage;
    const isLong = promptTokens(usage) > step.over;
    const own = tier && step.tiers[tier];
    // No source has prices of long prompts for a tier with prices of its own: they cost as without it, which is the higher price.
    const rates = isLong ? step.long : (own ?? step.rates);
    const byTier = tier === undefined || own ? ONE : (this.#tiers[tier] ?? (tier === 'priority' ? undefined : ONE));
    const byFast = usage.fast ? this.#fast : ONE;
    if (!byTier || !byFast) return 'tier';
    const byGeo = (geo !== undefined && this.#geo[geo]) || ONE;
    const { num, den } = this.#all;
    const tokens = {
      num: byTier.num * byGeo.num * byFast.num * num,
      den: byTier.den * byGeo.den * byFast.den * den,
    };
    return costOf(usage, { rates, tokens, units: this.#all }) ?? 'kind';
  }
}

function overridden({ from, prices, long }: PriceStep, rule: PriceOverride | undefined): PriceStep {
  const longer = rule?.long === undefined ? long : rule.long;
  return { from, prices: { ...prices, ...rule?.prices }, ...(longer && { long: longer }) };
}

function ratedStep({ from, prices, long }: PriceStep, tiers: PriceRow['tiers'] = {}): RatedStep {
  const own = Object.entries(tiers).filter(([, tier]) => typeof tier === 'object');
  return {
    from,
    rates: ratesOf(prices),
    over: long?.over ?? Infinity,
    long: ratesOf({ ...prices, ...long?.prices }),
    tiers: Object.fromEntries(own.map(([name, tier]) => [name, ratesOf({ ...prices, ...Object(tier) })])),
  };
}

/** The factors among the values. */
function fractions(values: Readonly<Record<string, number | Prices>>): Record<string, Fraction> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (typeof value === 'number' ? [[name, fractionOf(value)]] : [])),
  );
}
