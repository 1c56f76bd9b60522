import { usdText } from '../../../../core/ports/money.ts';

/** The cost of a row in USD; adjustments may give back. */
export const costText = (nano: number): string => (nano < 0 ? `-${usdText(-nano)}` : usdText(nano));

type Cell = string | number | null;

/**
 * A row of comma-separated values (RFC 4180). A spreadsheet takes a text that begins with `= + - @`, a tab or a line end for a formula: such
 * a text gets a quote before it. Numbers stay numbers.
 */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(csvCell).join(',')}\r\n`;

/** An exact amount is a text, because a number of JavaScript may not hold it. */
const NUMBER = /^-?\d+(?:\.\d+)?$/;

function csvCell(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const text = /^[=+\-@\t\r\n]/.test(cell) && !NUMBER.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Rows as a file, a piece at a time. @param names of the fields, in the order of the columns */
export async function* fileOf(
  format: 'csv' | 'jsonl',
  names: readonly string[],
  pieces: AsyncIterable<readonly Readonly<Record<string, unknown>>[]>,
): AsyncIterable<string> {
  if (format === 'csv') yield csvLine(names);
  for await (const rows of pieces)
    yield rows
      .map((row) => (format === 'csv' ? csvLine(names.map((name) => cellOf(row[name]))) : `${JSON.stringify(row)}\n`))
      .join('');
}

function cellOf(value: unknown): Cell {
  if (typeof value === 'number') return value;
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export const TYPES = { csv: 'text/csv', jsonl: 'application/jsonl' } as const;
