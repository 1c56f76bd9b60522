import { csvLine, type CsvCell } from '../../../../core/kernel/csv.ts';
import { costText } from '../../../../core/ports/money.ts';
import {
  LEDGER_SUMS,
  type LedgerRow,
  type LedgerSum,
  type RollupDimension,
  type RollupQuery,
  type RollupRow,
} from '../../../../core/ports/ledger.ts';
import { onStore, withReader, type StateOptions } from '../state/read.ts';

interface ExportOptions extends StateOptions {
  readonly from: number;
  readonly to: number;
  /** Undefined: the rows themselves. */
  readonly by: readonly RollupDimension[] | undefined;
  readonly step: RollupQuery['step'];
  readonly format: 'csv' | 'jsonl';
}

/** `gatehouse ledger export`: rows, or their sums, as CSV or JSON lines. The store may be in use. */
export const exportLedgerCommand = (options: ExportOptions): Promise<0 | 1 | 2> =>
  onStore(options, (found) =>
    withReader(found, async (store): Promise<0> => {
      const { from, to, by, step } = options;
      const print = printer(options);
      if (by) print(await store.ledger.rollups({ from, to, by, step }), rollupColumns(by));
      else {
        print([], ROWS);
        for await (const piece of store.ledger.rows({ from, to })) print(piece, ROWS);
      }
      return 0;
    }),
  );

function printer({ out, format }: ExportOptions): <Row>(rows: readonly Row[], columns: Columns<Row>) => void {
  let isFirst = true;
  return (rows, columns) => {
    if (isFirst && format === 'csv') out(csvLine(Object.keys(columns)));
    isFirst = false;
    for (const row of rows) {
      const line = lineOf(row, columns);
      out(format === 'csv' ? csvLine(Object.values(line)) : `${JSON.stringify(line)}\n`);
    }
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
} as const satisfies Readonly<Record<LedgerSum, string>>;

type Columns<Row> = Readonly<Record<string, (row: Row) => CsvCell>>;

const lineOf = <Row>(row: Row, columns: Columns<Row>): Readonly<Record<string, CsvCell>> =>
  Object.fromEntries(Object.entries(columns).map(([name, cellOf]) => [name, cellOf(row)]));

const SUMS: Columns<Pick<LedgerRow, LedgerSum>> = {
  ...Object.fromEntries(LEDGER_SUMS.map((sum) => [TOKENS[sum], (row: Pick<LedgerRow, LedgerSum>) => row[sum]])),
  // All digits, as text: no rounding of binary fractions.
  cost_usd: ({ nano }) => costText(nano),
};

const rollupColumns = (by: readonly RollupDimension[]): Columns<RollupRow> => ({
  start: ({ start }) => new Date(start).toISOString(),
  ...Object.fromEntries(by.map((name) => [name, ({ names }: RollupRow) => names[name] ?? ''])),
  requests: ({ requests }) => requests,
  attempts: ({ attempts }) => attempts,
  hits: ({ hits }) => hits,
  ...SUMS,
  saturated: ({ saturated }) => saturated.map((sum) => TOKENS[sum]).join(' '),
});

const ROWS: Columns<LedgerRow> = {
  time: ({ at }) => new Date(at).toISOString(),
  request: ({ req }) => req,
  request_id: ({ requestId, req }) => requestId || req,
  attempt: ({ att }) => att,
  kind: ({ kind }) => kind,
  source: ({ src }) => src,
  key: ({ key }) => key,
  user: ({ user }) => user,
  team: ({ team }) => team,
  organization: ({ organization }) => organization,
  config: ({ config }) => config,
  asked: ({ asked }) => asked,
  model: ({ model }) => model,
  status: ({ status }) => status,
  tier: ({ tier }) => tier,
  geo: ({ geo }) => geo,
  price_version: ({ priceVersion }) => priceVersion,
  labels: ({ labels }) => labels,
  ...SUMS,
  held_nano_usd: ({ held }) => held,
  ms: ({ ms }) => ms,
  first_ms: ({ firstMs }) => firstMs,
};
