export type Cell = string | number | undefined;

/** A spreadsheet takes a cell that begins with one of these for a formula. Names of keys and models are texts that others choose. */
const FORMULA = /^[=+\-@\t\r\n]/;
const QUOTED = /[",\r\n]/;
/** Amounts that this gateway has written. */
const NUMBER = /^-?\d+(?:\.\d+)?$/;

/** A line of CSV (RFC 4180). A text that a spreadsheet could take for a formula begins with an apostrophe and is quoted. */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(cellText).join(',')}\r\n`;

function cellText(cell: Cell): string {
  if (cell === undefined) return '';
  if (typeof cell === 'number' || NUMBER.test(cell)) return String(cell);
  if (FORMULA.test(cell)) return quoted(`'${cell}`);
  return QUOTED.test(cell) ? quoted(cell) : cell;
}

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
