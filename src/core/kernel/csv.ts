export type CsvCell = string | number | null | undefined;

/**
 * A line of comma-separated values (RFC 4180). A spreadsheet takes a text that begins with `= + - @`, also in their wide
 * forms, a tab or a line end for a formula: such a text gets an apostrophe before it. Numbers stay numbers.
 */
export const csvLine = (cells: readonly CsvCell[]): string => `${cells.map(cellText).join(',')}\r\n`;

/** An exact amount is a text, because a number of JavaScript may not hold it. */
const NUMBER = /^-?\d+(?:\.\d+)?$/;

function cellText(cell: CsvCell): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell === 'number') return String(cell);
  const text = /^[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]/.test(cell) && !NUMBER.test(cell) ? `'${cell}` : cell;
  return text !== cell || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
