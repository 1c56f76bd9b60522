import { LEDGER_NAMES, LEDGER_SUMS, type LedgerRow } from '../../../../core/ports/ledger.ts';

export const ROW_COLUMNS = [
  'req',
  'att',
  'kind',
  'at',
  'src',
  'asked',
  'tier',
  'geo',
  'priceVersion',
  ...LEDGER_NAMES,
  ...LEDGER_SUMS,
  'held',
  'ms',
  'firstMs',
  'requestId',
  'labels',
] as const satisfies readonly (keyof LedgerRow)[];

/** A row as a list: its JSON has no names, and a list is copied to another thread in a third of the time of an object (measured). */
export type Cells = readonly (string | number | null)[];

/** In the order of ROW_COLUMNS. Each property by its name: a loop over the names takes twice as long (measured), for each request. */
export const cellsOf = (row: LedgerRow): Cells => [
  row.req,
  row.att,
  row.kind,
  row.at,
  row.src,
  row.asked,
  row.tier,
  row.geo,
  row.priceVersion,
  row.key,
  row.user,
  row.team,
  row.organization,
  row.config,
  row.model,
  row.status,
  row.input,
  row.cacheRead,
  row.cacheWrite5m,
  row.cacheWrite1h,
  row.output,
  row.reasoning,
  row.inputAudio,
  row.outputAudio,
  row.inputImage,
  row.outputImage,
  row.units,
  row.searches,
  row.nano,
  row.held,
  row.ms,
  row.firstMs ?? null,
  row.requestId,
  row.labels,
];

/** @param columns of the release that wrote the cells */
export const rowOfCells = (cells: Cells, columns: readonly string[] = ROW_COLUMNS): LedgerRow =>
  Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? undefined])) as unknown as LedgerRow;

export const rowsAsText = (rows: readonly LedgerRow[]): string => JSON.stringify(rows.map(cellsOf));
export const rowsOfText = (text: string): LedgerRow[] =>
  (JSON.parse(text) as readonly Cells[]).map((cells) => rowOfCells(cells));
