import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { usdOf } from '../../../../core/ports/money.ts';
import type { PriceTable } from '../../prices/price-table.ts';
import type { PriceRow } from '../../prices/rates.ts';
import type { SourceRow, SourceTable } from '../../prices/source-table.ts';
import { formatDiagnostics } from '../../../../core/settings/source/diagnostic.ts';
import { diskFiles } from '../../../../core/settings/source/files.ts';
import { PRICE_TABLE_FILE } from '../../../../core/settings/source/find-files.ts';
import { priceFilesOf, readPriceTable } from '../../settings/price-files.ts';
import { readPrices, type PricesOptions } from './read.ts';

interface UpdatePricesOptions extends PricesOptions {
  readonly file: string;
  readonly dryRun: boolean;
}

/**
 * `gatehouse prices update`: writes the rows of a newer table that differ into price-table.json. Exit code 0: written,
 * or nothing to write; 1: mistakes in table or settings, or an older table; 2: the folder does not exist.
 */
export async function updatePricesCommand(options: UpdatePricesOptions): Promise<0 | 1 | 2> {
  const { dir, file, dryRun, out, err } = options;
  const settings = await readPrices(options);
  if (typeof settings === 'number') return settings;
  const newer = await readPriceTable(file, diskFiles);
  const { source } = newer;
  if (!source || newer.diagnostics.length > 0) {
    err(formatDiagnostics(newer.diagnostics, 'pretty'));
    return 1;
  }
  const inForce = priceFilesOf(settings).table;
  if (source.as_of < inForce.asOf) {
    err(`${file}: its prices are of ${source.as_of}, those in force of ${inForce.asOf}\n`);
    return 1;
  }
  const changed = source.models.filter((row) => changesOf(row, newer.table, inForce).length > 0);
  const lines = changed.flatMap((row) => changesOf(row, newer.table, inForce));
  out(lines.map((line) => `${line}\n`).join(''));
  out(`${lines.length} of the prices of ${source.as_of} are new or differ from those in force (${inForce.asOf})\n`);
  if (dryRun || changed.length === 0) return 0;
  const path = join(dir, PRICE_TABLE_FILE);
  const kept = await keptRows(path, changed);
  await writeFile(`${path}.new`, tableText({ ...source, models: [...changed, ...kept] }));
  await rename(`${path}.new`, path);
  out(`written: ${path}\n`);
  return 0;
}

async function keptRows(path: string, changed: readonly SourceRow[]): Promise<readonly SourceRow[]> {
  const { source } = await readPriceTable(path, diskFiles);
  const replaced = new Set(changed.flatMap(placesOf));
  return (source?.models ?? []).filter((row) => !placesOf(row).some((place) => replaced.has(place)));
}

const placesOf = ({ on, id, aka = [] }: SourceRow): readonly string[] =>
  on.flatMap((provider) => [id, ...aka].map((name) => `${provider}/${name}`));

/** A line for each provider at which the prices of a row are new or other ones. */
const changesOf = ({ on, id, aka = [] }: SourceRow, newer: PriceTable, inForce: PriceTable): readonly string[] =>
  on.flatMap((provider) => {
    const names = [id, ...aka];
    const after = newer.find(provider, id);
    const before = inForce.find(provider, id);
    const same = names.every((name) => textOf(inForce.find(provider, name)) === textOf(newer.find(provider, name)));
    if (!after || same) return [];
    return [`${before ? '~' : '+'} ${provider}/${id}: ${before ? `${shown(before)} -> ` : ''}${shown(after)}`];
  });

/** Equal rows have the same text, in whatever order their members are. */
const textOf = (row: PriceRow | undefined): string | undefined => row && JSON.stringify(row, sortedMembers);

const sortedMembers = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value;

function shown({ steps, tiers, geo, fast }: PriceRow): string {
  const parts = steps.map(({ from, prices, long }) => {
    const { input, output } = prices;
    const usd = [input, output].map((pico) => (pico === undefined ? '-' : String(usdOf(pico, 1e6)))).join('/');
    return `${from === '' ? '' : `from ${from} `}${usd}${long ? ` (over ${long.over} tokens other prices)` : ''}`;
  });
  const factors = Object.entries({ ...geo, ...tiers, ...(fast !== undefined && { fast }) }).flatMap(([name, value]) =>
    typeof value === 'number' ? [`${name} x${value}`] : [`${name} of its own`],
  );
  return [...parts, ...factors].join(', ');
}

/** One row a line, as in data/models.json. */
function tableText({ models, ...rest }: SourceTable): string {
  const head = Object.entries(rest).map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`);
  return `{\n${head.join('')}  "models": [\n${models.map((row) => `    ${JSON.stringify(row)}`).join(',\n')}\n  ]\n}\n`;
}
