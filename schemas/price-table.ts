/** Writes src/addons/budgets/prices/table.generated.ts from data/models.json. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileTable, type SourceTable } from '../src/addons/budgets/prices/source-table.ts';
import { quoted, TABLE_SOURCE } from './model-table.ts';

export const PRICES_OUTPUT = join(import.meta.dirname, '../src/addons/budgets/prices/table.generated.ts');

export function generatePriceTable(): string {
  const source = JSON.parse(readFileSync(TABLE_SOURCE, 'utf8')) as SourceTable;
  const rows = compileTable(source, (path, message) => {
    throw new Error(`${path.join('.')}: ${message}`);
  });
  return `// Generated from data/models.json by \`node schemas/generate.ts\`. Do not edit: change data/models.json and run it again.
// Prices are pico-USD per token, search, picture or second, and are not warranted. Sources and licences: data/models.json, NOTICE.

import type { PriceRow } from './rates.ts';

/** The day on which the sources were read. */
export const PRICES_AS_OF = '${source.as_of}';

/** Providers and names, separated by spaces, and their prices. */
export const PRICE_ROWS: readonly (readonly [providers: string, names: string, row: PriceRow])[] = [
${rows.map(([providers, names, row]) => `  [${quoted(providers.split(' '))}, ${quoted(names.split(' '))}, ${written(row)}],`).join('\n')}
];
`;
}

/** As code, in the style of the formatter. */
function written(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(written).join(', ')}]`;
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  const members = Object.entries(value).map(([name, inner]) => `${name}: ${written(inner)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}
