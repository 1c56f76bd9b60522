import { usdOf } from '../../../core/ports/money.ts';
import type { ShippedPrice } from '../../../core/ports/prices.ts';
import { withoutVersion } from '../../../core/kernel/model-ids.ts';
import { stepOn, type PriceRow } from './rates.ts';
import { PRICE_ROWS, PRICES_AS_OF } from './table.generated.ts';

/** Providers and names, separated by spaces, and their prices. */
export type TableRow = readonly [providers: string, names: string, row: PriceRow];

export class PriceTable {
  readonly asOf: string;
  readonly #rows: readonly TableRow[];
  /** By `provider/model`. */
  readonly #byName: Map<string, PriceRow>;

  constructor(asOf: string, rows: readonly TableRow[]) {
    this.asOf = asOf;
    this.#rows = rows;
    this.#byName = new Map(
      rows.flatMap(([providers, names, row]) =>
        providers
          .split(' ')
          .flatMap((provider) => names.split(' ').map((name): [string, PriceRow] => [`${provider}/${name}`, row])),
      ),
    );
  }

  find(provider: string, model: string): PriceRow | undefined {
    return this.#byName.get(`${provider}/${model}`) ?? this.#byName.get(`${provider}/${withoutVersion(model)}`);
  }

  modelsOf(provider: string): readonly string[] {
    const start = `${provider}/`;
    return [...this.#byName.keys()].flatMap((name) => (name.startsWith(start) ? [name.slice(start.length)] : []));
  }

  /** This table with the rows of a newer one before its own. */
  with(asOf: string, rows: readonly TableRow[]): PriceTable {
    const own = new PriceTable(asOf, rows);
    const others = this.#rows.filter(([providers, names]) =>
      providers.split(' ').some((provider) => !own.#byName.has(`${provider}/${names.split(' ')[0]!}`)),
    );
    const merged = new PriceTable(asOf > this.asOf ? asOf : this.asOf, [...rows, ...others]);
    for (const [place, row] of own.#byName) merged.#byName.set(place, row);
    return merged;
  }

  list(): readonly { readonly provider: string; readonly model: string; readonly row: PriceRow }[] {
    return this.#rows.flatMap(([providers, names, row]) =>
      providers.split(' ').map((provider) => ({ provider, model: names.split(' ')[0]!, row })),
    );
  }
}

export const SHIPPED_PRICES = new PriceTable(PRICES_AS_OF, PRICE_ROWS);

export function shippedPrice(provider: string, model: string): ShippedPrice | undefined {
  const { asOf } = SHIPPED_PRICES;
  const row = SHIPPED_PRICES.find(provider, model);
  const prices = row && stepOn(row, asOf)?.prices;
  if (!prices) return undefined;
  const usd = (['input', 'cached', 'output'] as const).flatMap((kind): [string, number][] => {
    const price = prices[kind];
    return price === undefined ? [] : [[kind, usdOf(price, 1e6)]];
  });
  return { asOf, usd: Object.fromEntries(usd) };
}
