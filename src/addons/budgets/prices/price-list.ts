import { hash } from 'node:crypto';
import type { Usage } from '../../../formats/events.ts';
import { withoutVersion } from '../../../core/kernel/model-ids.ts';
import { costOf } from './cost.ts';
import { matches } from '../../../core/catalog/globs.ts';
import { fractionOf, ONE, times, type Fraction, type Nano } from '../../../core/ports/money.ts';
import { SHIPPED_PRICES, type PriceTable } from './price-table.ts';
import {
  ratesOf,
  type PriceOverride,
  type PriceRow,
  type PriceStep,
  type PriceTier,
  type PricedPlace,
  type Prices,
  type Rates,
  type Rating,
  type UnknownPrice,
} from './rates.ts';

/** Callers write names of models, so that their number is bounded. */
const MAX_KNOWN = 1000;

/** Prices in force, by entry, provider, model, region, tier and day. */
export class PriceList {
  readonly asOf: string;
  /** Names these prices: the day of the table, and 8 hex digits of the operator's own if there are any. */
  readonly version: string;
  readonly #overrides: readonly PriceOverride[];
  readonly #table: PriceTable;
  readonly #known = new Map<string, MatchedPrices>();
  /** The price of the latest request, so that most requests need no search. */
  #latest: { readonly place: PricedPlace; readonly found: MatchedPrices } | undefined;

  /** @param overrides the first that matches a request is in force */
  constructor(overrides: readonly PriceOverride[] = [], table: PriceTable = SHIPPED_PRICES) {
    this.#overrides = overrides;
    this.#table = table;
    this.asOf = table.asOf;
    this.version = overrides.length === 0 ? table.asOf : `${table.asOf}+${digestOf(overrides)}`;
  }

  /** The cost of a request, or why it is unknown. An unknown price is never 0. */
  cost(usage: Usage, place: PricedPlace): Nano | UnknownPrice {
    // The tokens of the whole prompt decide whether it is a long one.
    const { tier, fast, input: prompt } = usage;
    const rating = this.rating({ tier, fast, prompt }, place);
    return typeof rating === 'string' ? rating : (costOf(usage, rating) ?? 'kind');
  }

  rating(terms: Terms, place: PricedPlace): Rating | UnknownPrice {
    const { row, overrides } = this.#find(place);
    const override = overrides.find((one) => isFor(one.rule, place, terms.tier));
    return (override?.prices ?? row)?.rating(terms, place) ?? 'model';
  }

  #find(place: PricedPlace): MatchedPrices {
    const latest = this.#latest;
    if (latest && isSameModel(latest.place, place)) return latest.found;
    const found = this.#search(place);
    this.#latest = { place, found };
    return found;
  }

  #search(place: PricedPlace): MatchedPrices {
    const { entry, provider, model, customHost = '' } = place;
    const key = `${entry}\u0000${provider}\u0000${model}\u0000${customHost}`;
    const known = this.#known.get(key);
    if (known) return known;
    const row = customHost === '' ? this.#table.find(provider, model) : undefined;
    const found: MatchedPrices = {
      row: row && new ModelPrices(row),
      overrides: this.#overrides
        .filter((rule) => isOfModel(rule, place))
        .map((rule) => ({ rule, prices: new ModelPrices(row ?? NO_ROW, rule) })),
    };
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(key, found);
    return found;
  }
}

const digestOf = (overrides: readonly PriceOverride[]): string => hash('sha256', JSON.stringify(overrides)).slice(0, 8);

const isSameModel = (one: PricedPlace, other: PricedPlace): boolean =>
  one.model === other.model &&
  one.entry === other.entry &&
  one.provider === other.provider &&
  one.customHost === other.customHost;

const NO_ROW: PriceRow = { steps: [] };

interface MatchedPrices {
  readonly row: ModelPrices | undefined;
  readonly overrides: readonly { readonly rule: PriceOverride; readonly prices: ModelPrices }[];
}

const isOfModel = (rule: PriceOverride, { entry, provider, model, customHost }: PricedPlace): boolean =>
  (customHost === undefined ? rule.host === undefined : matches(rule.host ?? '', customHost)) &&
  (rule.entry === undefined || rule.entry === entry) &&
  (rule.provider === undefined || rule.provider === provider) &&
  (matches(rule.model, model) || matches(rule.model, withoutVersion(model)));

const isFor = (rule: PriceOverride, { region, geo, day }: PricedPlace, tier: PriceTier | undefined): boolean =>
  (rule.tier === undefined || rule.tier === (tier ?? 'standard')) &&
  (rule.region === undefined || rule.region === region || rule.region === geo) &&
  (rule.from === undefined || rule.from <= day) &&
  (rule.until === undefined || rule.until >= day);

/** Lists before the present one that requests under way may have begun with. */
const MAX_EARLIER = 8;

interface Since {
  readonly list: PriceList;
  /** Monotonic milliseconds. */
  readonly from: number;
}

/** Prices that change while requests run. A request pays those with which it began. */
export class PricesInForce {
  #now: Since;
  /** The newest first. */
  #earlier: readonly Since[] = [];

  constructor(list: PriceList) {
    this.#now = { list, from: -Infinity };
  }

  get current(): PriceList {
    return this.#now.list;
  }

  /** @param from monotonic milliseconds */
  replace(list: PriceList, from: number): void {
    this.#earlier = [this.#now, ...this.#earlier].slice(0, MAX_EARLIER);
    this.#now = { list, from };
  }

  /** @param startedAt of a request, monotonic milliseconds */
  at(startedAt: number): PriceList {
    if (startedAt >= this.#now.from) return this.#now.list;
    return (this.#earlier.find(({ from }) => startedAt >= from) ?? this.#earlier.at(-1) ?? this.#now).list;
  }
}

interface Terms {
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

class ModelPrices {
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

  rating({ tier, fast, prompt, assumed }: Terms, { day, geo }: PricedPlace): Rating | UnknownPrice {
    const [latest] = this.#steps;
    const step = latest && latest.from <= day ? latest : this.#steps.find(({ from }) => from <= day);
    if (!step) return this.#steps.length === 0 ? 'model' : 'date';
    const own = tier && step.tiers[tier];
    const rates = prompt > step.over ? (own ?? step).long : (own ?? step).rates;
    const byTier = tier === undefined || own ? ONE : (this.#tiers[tier] ?? (tier === 'priority' ? undefined : ONE));
    const byFast = fast ? this.#fast : ONE;
    if (!byTier || !byFast) return 'tier';
    const searches = this.#searches;
    return geo === undefined && byTier === ONE && byFast === ONE
      ? { rates, tokens: this.#all, units: this.#all, searches }
      : { rates, ...this.#factors(times(byTier, byFast), geo, assumed), searches };
  }

  #factors(byTerms: Fraction, geo: string | undefined, assumed: Terms['assumed']): Pick<Rating, 'tokens' | 'units'> {
    const known = geo === undefined ? ONE : this.#geo[geo];
    const guessed = !known && assumed && geo === 'regional' && !this.#hasRegion ? ASSUMED_REGIONAL : ONE;
    return { tokens: times(byTerms, times(known ?? guessed, this.#all)), units: times(guessed, this.#all) };
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

const fractions = (values: Readonly<Record<string, number | Prices>>): Record<string, Fraction> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (typeof value === 'number' ? [[name, fractionOf(value)]] : [])),
  );
