import { hash } from 'node:crypto';
import type { Usage } from '../../../formats/events.ts';
import { withoutVersion } from '../../../core/kernel/model-ids.ts';
import { costOf, promptTokens } from './cost.ts';
import { ModelPrices, type Terms } from './model-prices.ts';
import { matches } from '../../../core/catalog/model-pattern.ts';
import type { Nano } from '../../../core/ports/money.ts';
import { SHIPPED_PRICES, type PriceTable } from './price-table.ts';
import type { PricedPlace, PriceOverride, UnknownPrice } from './priced-place.ts';
import type { PriceRow, PriceTier, Rating } from './rates.ts';

/** Callers write names of models, so that their number is bounded. */
const MAX_KNOWN = 1000;

/** Prices in force, by entry, provider, model, region, tier and day. */
export class PriceList {
  /** The day of the table. */
  readonly asOf: string;
  /** Names these prices: the day of the table, and 8 hex digits of the operator's own if there are any. */
  readonly version: string;
  readonly #overrides: readonly PriceOverride[];
  readonly #table: PriceTable;
  readonly #known = new Map<string, Found>();
  /** The price of the latest request, so that most requests need no search. */
  #latest: { readonly place: PricedPlace; readonly found: Found } | undefined;

  /** @param overrides the first that matches a request is in force */
  constructor(overrides: readonly PriceOverride[] = [], table: PriceTable = SHIPPED_PRICES) {
    this.#overrides = overrides;
    this.#table = table;
    this.asOf = table.asOf;
    this.version = overrides.length === 0 ? table.asOf : `${table.asOf}+${digestOf(overrides)}`;
  }

  /** The cost of a request, or why it is unknown. An unknown price is never 0. */
  cost(usage: Usage, place: PricedPlace): Nano | UnknownPrice {
    const { tier, fast } = usage;
    const rating = this.rating({ tier, fast, prompt: promptTokens(usage) }, place);
    return typeof rating === 'string' ? rating : (costOf(usage, rating) ?? 'kind');
  }

  /** The price of each kind of units for a request, or why it is unknown. */
  rating(terms: Terms, place: PricedPlace): Rating | UnknownPrice {
    const { row, overrides } = this.#find(place);
    const override = overrides.find((one) => isFor(one.rule, place, terms.tier));
    return (override?.prices ?? row)?.rating(terms, place) ?? 'model';
  }

  #find(place: PricedPlace): Found {
    const latest = this.#latest;
    if (latest && isSameModel(latest.place, place)) return latest.found;
    const found = this.#search(place);
    this.#latest = { place, found };
    return found;
  }

  #search(place: PricedPlace): Found {
    const { entry, provider, model, customHost = '' } = place;
    const key = `${entry}\u0000${provider}\u0000${model}\u0000${customHost}`;
    const known = this.#known.get(key);
    if (known) return known;
    const row = customHost === '' ? this.#table.find(provider, model) : undefined;
    const found: Found = {
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

interface Found {
  readonly row: ModelPrices | undefined;
  readonly overrides: readonly { readonly rule: PriceOverride; readonly prices: ModelPrices }[];
}

function isOfModel(rule: PriceOverride, { entry, provider, model, customHost }: PricedPlace): boolean {
  return (
    (customHost === undefined ? rule.host === undefined : matches(rule.host ?? '', customHost)) &&
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
