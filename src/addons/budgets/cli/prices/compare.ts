import { readFile } from 'node:fs/promises';
import { usdOf } from '../../../../core/ports/money.ts';
import type { PriceTable } from '../../prices/price-table.ts';
import { stepOn, type PriceRow, type Prices } from '../../prices/rates.ts';
import { readPriceTable } from '../../settings/price-table.ts';
import { diskFiles } from '../../../../core/settings/source/files.ts';
import { COMPARED, otherPrices, type OtherPrice } from './other-tables.ts';
import type { PricesOptions } from './read.ts';

interface CompareOptions extends PricesOptions {
  readonly file: string;
}

/**
 * Prints the models of another table that have other prices on a day, or that are not in ours, and the steps of our prices that fall due
 * in the next 60 days. Nothing is fetched. Exit code 0: nothing differs; 1: something does, or the file is no table.
 */
export async function comparePrices(table: PriceTable, options: CompareOptions): Promise<0 | 1> {
  const { file, day, out, err } = options;
  const others = await readOther(file, day);
  if (typeof others === 'string') {
    err(`${file}: ${others}\n`);
    return 1;
  }
  const lines = [...new Set(others.flatMap((other) => differenceOf(other, table, day)))].toSorted();
  const due = dueSteps(table, day);
  out([...lines, ...due].map((line) => `${line}\n`).join(''));
  out(
    `${lines.length} of ${others.length} prices of ${file} are new or differ from those of ${table.asOf} on ${day}\n`,
  );
  return lines.length === 0 ? 0 : 1;
}

/** A text: why it cannot be read. */
async function readOther(file: string, day: string): Promise<readonly OtherPrice[] | string> {
  let document: unknown;
  try {
    document = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    return error instanceof SyntaxError ? 'this is no JSON' : 'this file cannot be read';
  }
  const prices = otherPrices(document);
  if (prices) return prices;
  const own = await readPriceTable(file, diskFiles);
  if (!own.source || own.diagnostics.length > 0)
    return 'this is no table of models.dev, of LiteLLM or as data/models.json';
  return own.table.list().map(({ provider, model, row }) => ({ provider, model, usd: usdOn(row, day) }));
}

const usdOn = (row: PriceRow, day: string): OtherPrice['usd'] => usdPrices(stepOn(row, day)?.prices ?? {});

const usdPrices = (prices: Prices): OtherPrice['usd'] =>
  Object.fromEntries(
    COMPARED.flatMap((kind) => (prices[kind] === undefined ? [] : [[kind, usdOf(prices[kind], 1e6)]])),
  );

/** Only kinds of tokens that both tables have a price of. */
function differenceOf({ provider, model, usd }: OtherPrice, table: PriceTable, day: string): readonly string[] {
  const row = table.find(provider, model);
  if (!row) return [`+ ${provider}/${model}: ${shown(usd)}`];
  const own = usdOn(row, day);
  const differing = COMPARED.filter(
    (kind) => own[kind] !== undefined && usd[kind] !== undefined && own[kind] !== usd[kind],
  );
  return differing.length === 0
    ? []
    : [`~ ${provider}/${model}: ${differing.map((kind) => `${kind} ${own[kind]} -> ${usd[kind]}`).join(', ')}`];
}

const shown = (usd: OtherPrice['usd']): string =>
  COMPARED.flatMap((kind) => (usd[kind] === undefined ? [] : [`${kind} ${usd[kind]}`])).join(', ');

const DUE_MS = 60 * 86_400_000;

function dueSteps(table: PriceTable, day: string): readonly string[] {
  const last = new Date(Date.parse(day) + DUE_MS).toISOString().slice(0, 10);
  return table
    .list()
    .flatMap(({ provider, model, row }) =>
      row.steps
        .filter(({ from }) => from > day && from <= last)
        .map(({ from, prices }) => `! ${provider}/${model}: from ${from} ${shown(usdPrices(prices))}`),
    );
}
