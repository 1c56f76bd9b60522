import { usdText } from '../../../../core/ports/money.ts';
import {
  LEDGER_SUMS,
  type LedgerDimension,
  type LedgerRow,
  type RollupQuery,
  type RollupRow,
} from '../../../../core/ports/ledger.ts';
import { onStore, withReader, type StateOptions } from '../state/read.ts';
import { csvLine, type Cell } from './csv.ts';

export interface ExportOptions extends StateOptions {
  readonly from: number;
  readonly to: number;
  /** Undefined: the rows themselves. */
  readonly by: readonly LedgerDimension[] | undefined;
  readonly step: RollupQuery['step'];
  readonly format: 'csv' | 'jsonl';
}

/** `gatehouse ledger export`: rows, or their sums, as CSV or JSON lines. The store may be in use. */
export const exportLedgerCommand = (options: ExportOptions): Promise<0 | 1 | 2> =>
  onStore(options, ({ folder }) =>
    withReader(folder, (store) => {
      const { from, to, by, step } = options;
      const print = printer(options);
      if (by)
        print(
          store.rollups({ from, to, by, step }).map((row) => sumOf(row, by)),
          sumColumns(by),
        );
      else {
        print([], ROW_COLUMNS);
        for (const piece of store.ledgerRows({ from, to })) print(piece.map(rowOf), ROW_COLUMNS);
      }
      return 0;
    }),
  );

type Line = Readonly<Record<string, Cell>>;

/** CSV begins with one line of names. */
function printer({ out, format }: ExportOptions): (lines: readonly Line[], columns: readonly string[]) => void {
  let isFirst = true;
  return (lines, columns) => {
    if (isFirst && format === 'csv') out(csvLine(columns));
    isFirst = false;
    for (const line of lines)
      out(format === 'csv' ? csvLine(columns.map((column) => line[column])) : `${JSON.stringify(line)}\n`);
  };
}

const TOKENS = {
  input: 'input_tokens',
  cacheRead: 'cache_read_tokens',
  cacheWrite5m: 'cache_write_5m_tokens',
  cacheWrite1h: 'cache_write_1h_tokens',
  output: 'output_tokens',
  reasoning: 'reasoning_tokens',
  inputAudio: 'input_audio_tokens',
  outputAudio: 'output_audio_tokens',
  inputImage: 'input_image_tokens',
  outputImage: 'output_image_tokens',
  units: 'units',
  searches: 'searches',
  nano: 'cost_nano_usd',
} as const satisfies Readonly<Record<(typeof LEDGER_SUMS)[number], string>>;

const SUM_COLUMNS = [...LEDGER_SUMS.map((sum) => TOKENS[sum]), 'cost_usd'];

const sumsOf = (row: Pick<LedgerRow, (typeof LEDGER_SUMS)[number]>): Line => ({
  ...Object.fromEntries(LEDGER_SUMS.map((sum) => [TOKENS[sum], row[sum]])),
  cost_usd: usd(row.nano),
});

/** All digits, as text: no rounding of binary fractions. */
const usd = (nano: number): number | string => (nano < 0 ? `-${usdText(-nano)}` : usdText(nano));

const sumColumns = (by: readonly LedgerDimension[]): readonly string[] => [
  'start',
  ...by,
  'requests',
  'attempts',
  'hits',
  ...SUM_COLUMNS,
  'saturated',
];

const sumOf = (row: RollupRow, by: readonly LedgerDimension[]): Line => ({
  start: new Date(row.start).toISOString(),
  ...Object.fromEntries(by.map((name) => [name, row.names[name] ?? ''])),
  requests: row.requests,
  attempts: row.attempts,
  hits: row.hits,
  ...sumsOf(row),
  saturated: row.saturated.map((sum) => TOKENS[sum]).join(' '),
});

const ROW_COLUMNS = [
  'time',
  'request',
  'request_id',
  'attempt',
  'kind',
  'source',
  'key',
  'user',
  'team',
  'organization',
  'config',
  'asked',
  'model',
  'status',
  'tier',
  'geo',
  'price_version',
  ...SUM_COLUMNS,
  'held_nano_usd',
  'ms',
  'first_ms',
];

const rowOf = (row: LedgerRow): Line => ({
  time: new Date(row.at).toISOString(),
  request: row.req,
  request_id: row.requestId || row.req,
  attempt: row.att,
  kind: row.kind,
  source: row.src,
  key: row.key,
  user: row.user,
  team: row.team,
  organization: row.organization,
  config: row.config,
  asked: row.asked,
  model: row.model,
  status: row.status,
  tier: row.tier,
  geo: row.geo,
  price_version: row.priceVersion,
  ...sumsOf(row),
  held_nano_usd: row.held,
  ms: row.ms,
  first_ms: row.firstMs,
});
