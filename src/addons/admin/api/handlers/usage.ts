import {
  LEDGER_DIMENSIONS,
  LEDGER_KINDS,
  LEDGER_SUMS,
  type LedgerCondition,
  type LedgerDimension,
  type LedgerQuery,
  type LedgerRow,
  type RollupQuery,
  type RollupRow,
  type RowName,
} from '../../../../core/ports/ledger.ts';
import { costText } from '../../../../core/ports/money.ts';
import { listOf, parseJson } from '../../../../formats/json/object.ts';
import { LEDGER_COLUMNS } from '../answer-schemas.ts';
import { actorOf, type CallAnswer, type Call, type Handler } from '../call.ts';
import { cut, pageOf, readCursor } from '../pages.ts';
import { ApiProblem } from '../problems.ts';
import { fileOf, TYPES } from './export-rows.ts';

const DAY_MS = 86_400_000;

interface TimeRange {
  readonly from: number;
  readonly to: number;
}

function spanOf({ query, clock }: Call): TimeRange {
  const to = query.moment('to') ?? clock.wall();
  const from = query.moment('from') ?? Math.max(0, to - DAY_MS);
  if (from > to) throw new ApiProblem('invalid_query', '`from` must not be after `to`.');
  return { from, to };
}

const whereOf = ({ query }: Call): LedgerCondition =>
  Object.fromEntries(
    LEDGER_DIMENSIONS.flatMap((name) => (query.all(name).length > 0 ? [[name, query.all(name)]] : [])),
  );

const isDimension = (name: string): name is LedgerDimension => LEDGER_DIMENSIONS.some((one) => one === name);

function dimensionsOf({ query }: Call): readonly LedgerDimension[] {
  const names = (query.one('by') ?? '').split(',').filter((name) => name !== '');
  const known = names.filter(isDimension);
  if (known.length < names.length || new Set(known).size < known.length)
    throw new ApiProblem('invalid_query', `\`by\` may have ${LEDGER_DIMENSIONS.join(', ')}, each once.`);
  return known;
}

/** Rows of these sums have at most so many hours or days: 35 days of hours. */
const MOST_STEPS = { hour: 35 * 24, day: 1_100, all: Infinity } as const;

function rollupQueryOf(call: Call): RollupQuery {
  const span = spanOf(call);
  const step = (['hour', 'all'] as const).find((one) => one === call.query.one('step')) ?? 'day';
  if ((span.to - span.from) / (step === 'hour' ? DAY_MS / 24 : DAY_MS) > MOST_STEPS[step])
    throw new ApiProblem(
      'invalid_query',
      'Sums by hour are for 35 days at most, and sums by day for 1100: choose a shorter time or a longer step.',
    );
  return { ...span, step, by: dimensionsOf(call), where: whereOf(call) };
}

export const listUsage: Handler = async (call) => {
  const wanted = rollupQueryOf(call);
  const rows = await call.objects.store.ledger.rollups(wanted);
  const format = formatOf(call);
  const shown = (row: RollupRow): UsageRow => usageRow(row, wanted.by);
  if (format) {
    const names = ['start', ...wanted.by, 'requests', 'attempts', 'hits', ...LEDGER_SUMS, 'cost_usd', 'saturated'];
    return exported(call, {
      format,
      names,
      pieces: (async function* () {
        yield rows.map(shown);
      })(),
    });
  }
  const page = pageOf(rows, (row) => nameOf(row, wanted.by), call.query);
  return { body: { ...page, items: page.items.map(shown) } };
};

/** In the order of the port's answer. */
const nameOf = ({ start, names }: RollupRow, by: readonly LedgerDimension[]): string =>
  `${start}\n${by.map((dimension) => names[dimension] ?? '').join('\n')}`;

type UsageRow = Readonly<Record<string, unknown>>;

const usageRow = (
  { start, names, saturated, requests, attempts, hits, ms, firstMs, ...sums }: RollupRow,
  by: readonly LedgerDimension[],
): UsageRow => ({
  start: new Date(start).toISOString(),
  ...Object.fromEntries(by.map((dimension) => [dimension, names[dimension] ?? ''])),
  requests,
  attempts,
  hits,
  ...Object.fromEntries(LEDGER_SUMS.map((sum) => [sum, sums[sum]])),
  cost_usd: costText(sums.nano),
  saturated,
  ms,
  first_ms: firstMs,
});

export const listLedger: Handler = async (call) => {
  const { ledger } = call.objects.store;
  const wanted: LedgerQuery = { ...spanOf(call), where: whereOf(call) };
  const format = formatOf(call);
  if (format) return exported(call, { format, names: LEDGER_COLUMNS, pieces: shownPieces(ledger.rows(wanted)) });
  const { limit } = call.query;
  const found: LedgerRow[] = [];
  for await (const piece of ledger.rows({ ...wanted, pieces: limit + 1, after: afterOf(call) })) {
    found.push(...piece);
    if (found.length > limit) break;
  }
  const page = cut(found, ({ at, req, att, kind }) => JSON.stringify([at, req, att, kind]), limit);
  return { body: { ...page, items: page.items.map(ledgerRow) } };
};

async function* shownPieces(pieces: AsyncIterable<readonly LedgerRow[]>): AsyncIterable<readonly UsageRow[]> {
  for await (const rows of pieces) yield rows.map(ledgerRow);
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/** The name of the last row of the page before, from the caller's text. */
function afterOf({ query }: Call): RowName | undefined {
  const cursor = readCursor(query);
  if (cursor === undefined) return undefined;
  const read = (/^\[[^[\]]*\]$/.test(cursor) && listOf(parseJson(cursor))) || [];
  const [at, req, att, kind] = read;
  const known = LEDGER_KINDS.find((one) => one === kind);
  if (isCount(at) && typeof req === 'string' && UUID.test(req) && isCount(att) && known)
    return { at, req, att, kind: known };
  throw new ApiProblem('invalid_query', '`cursor` is not the `next` of a page.');
}

function ledgerRow({ requestId, priceVersion, firstMs, at, nano, ...row }: LedgerRow): UsageRow {
  const shown: UsageRow = {
    ...row,
    request_id: requestId || row.req,
    nano,
    at: new Date(at).toISOString(),
    price_version: priceVersion,
    cost_usd: costText(nano),
    first_ms: firstMs ?? null,
  };
  return Object.fromEntries(LEDGER_COLUMNS.map((name) => [name, shown[name]]));
}

function formatOf({ query }: Call): 'csv' | 'jsonl' | undefined {
  const format = query.one('format');
  return format === 'csv' || format === 'jsonl' ? format : undefined;
}

interface Export {
  readonly format: 'csv' | 'jsonl';
  readonly names: readonly string[];
  readonly pieces: AsyncIterable<readonly UsageRow[]>;
}

/** A file leaves the gateway's control: the audit has a row of it. */
async function exported(call: Call, { format, names, pieces }: Export): Promise<CallAnswer> {
  const { from, to } = spanOf(call);
  const kind = call.operation.slice(0, call.operation.indexOf('.'));
  const id = `${new Date(from).toISOString()}/${new Date(to).toISOString()}`;
  await call.objects.store.audit.add(
    { action: 'export', kind, id, reason: `${call.operation} ${format}` },
    actorOf(call),
  );
  return { file: { type: TYPES[format], name: `${kind}.${format}`, pieces: fileOf(format, names, pieces) } };
}
