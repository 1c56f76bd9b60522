import { csvLine, type CsvCell } from '../../../../core/kernel/csv.ts';

type Rows = readonly Readonly<Record<string, unknown>>[];
export type PiecesOfRows = AsyncIterable<Rows> | Iterable<Rows>;

/** Rows as a file, a piece at a time. @param names of the fields, in the order of the columns */
export async function* fileOf(
  format: 'csv' | 'jsonl',
  names: readonly string[],
  pieces: PiecesOfRows,
): AsyncIterable<string> {
  if (format === 'csv') yield csvLine(names);
  for await (const rows of pieces)
    yield rows
      .map((row) => (format === 'csv' ? csvLine(names.map((name) => cellOf(row[name]))) : `${JSON.stringify(row)}\n`))
      .join('');
}

function cellOf(value: unknown): CsvCell {
  if (typeof value === 'number') return value;
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export const TYPES = { csv: 'text/csv', jsonl: 'application/jsonl' } as const;
