import type { PriceRule } from '../../../../../schemas/types.generated.ts';
import { matches } from '../../../../core/catalog/globs.ts';
import { usdOf } from '../../../../core/ports/money.ts';
import { stepOn, type PriceRow } from '../../prices/rates.ts';
import { ownPrices, priceFilesOf } from '../../settings/price-files.ts';
import { readPrices, type PricesOptions } from './read.ts';
import { textTable } from '../../../../core/kernel/layout.ts';

interface ListPricesOptions extends PricesOptions {
  readonly format: 'table' | 'json';
  /** Default: all. */
  readonly model: string | undefined;
}

/** `gatehouse prices list`. Exit code 0: listed; 1: errors in the settings; 2: the folder does not exist. */
export async function listPricesCommand(options: ListPricesOptions): Promise<0 | 1 | 2> {
  const { format, model: pattern = '*', day, out } = options;
  const settings = await readPrices(options);
  if (typeof settings === 'number') return settings;
  const { table: shipped } = priceFilesOf(settings);
  const rules = ownPrices(settings).prices.filter(({ model }) => matches(pattern, model) || matches(model, pattern));
  const rows = shipped
    .list()
    .flatMap(({ provider, model, row }) => (matches(pattern, model) ? [shownRow(provider, model, row, day)] : []));
  if (format === 'json') {
    out(`${JSON.stringify({ as_of: shipped.asOf, rules, shipped: rows }, null, 2)}\n`);
    return 0;
  }
  if (rules.length > 0) out(`prices.yaml, the first rule that fits is in force:\n${rules.map(ruleText).join('')}\n`);
  out(`shipped, as of ${shipped.asOf}, USD per million tokens on ${day}, not warranted:\n`);
  out(textTable([['PROVIDER', 'MODEL', 'INPUT', 'CACHED', 'OUTPUT', 'LONG', 'NEXT'], ...rows.map(cellsOf)]));
  return 0;
}

/** Null: unknown, or there is none. */
interface ShownRow {
  readonly provider: string;
  readonly model: string;
  readonly input: number | null;
  readonly cached: number | null;
  readonly output: number | null;
  /** Longer prompts have other prices. */
  readonly long_over: number | null;
  /** The next day with other prices. */
  readonly next: string | null;
}

function shownRow(provider: string, model: string, row: PriceRow, day: string): ShownRow {
  const step = stepOn(row, day);
  const usd = (pico: number | undefined): number | null => (pico === undefined ? null : usdOf(pico, 1e6));
  return {
    provider,
    model,
    input: usd(step?.prices.input),
    cached: usd(step?.prices.cached),
    output: usd(step?.prices.output),
    long_over: step?.long?.over ?? null,
    next: row.steps.find(({ from }) => from > day)?.from ?? null,
  };
}

const cellsOf = (row: ShownRow): readonly string[] => Object.values(row).map((value) => String(value ?? '-'));

function ruleText({ model, entry, provider, region, tier, from, until, usd, factor }: PriceRule): string {
  const where = Object.entries({ entry, provider, region, tier, from, until }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name} ${value}`],
  );
  const prices = Object.entries({ ...usd, ...(factor !== undefined && { factor }) });
  return `  ${[model, ...where].join(', ')}: ${prices.map(([kind, price]) => `${kind} ${price}`).join(', ')}\n`;
}
