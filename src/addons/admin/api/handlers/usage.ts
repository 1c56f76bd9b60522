import {
  LEDGER_DIMENSIONS,
  LEDGER_KINDS,
  LEDGER_SUMS,
  sumName,
  type LedgerCondition,
  type LedgerQuery,
  type LedgerRow,
  type RollupQuery,
  type RollupRow,
  type RowName,
  type RollupDimension,
} from '../../../../core/ports/ledger.ts';
import { costText } from '../../../../core/ports/money.ts';
import { ZoneDays } from '../../../../core/ports/zone-days.ts';
import { listOf, parseJson } from '../../../../formats/json/object.ts';
import { LEDGER_COLUMNS } from '../answer-schemas.ts';
import { actorOf, type CallAnswer, type Call, type Handler } from '../call.ts';
import { ledgerLabelsOf } from '../ledger-labels.ts';
import { cut, pageOf, readCursor } from '../pages.ts';
import { ApiProblem } from '../problems.ts';
import { fileOf, TYPES, type PiecesOfRows } from './export-rows.ts';
import { FOCUS_BY, FOCUS_COLUMNS, focusRow } from './focus.ts';
import { LABEL } from '../parameters.ts';

const whereOf = ({ query }: Call): LedgerCondition =>
  Object.fromEntries(
    LEDGER_DIMENSIONS.flatMap((name) => (query.all(name).length > 0 ? [[name, query.all(name)]] : [])),
  );

/** So many hours or days at most: 35 days of hours, and a hundred years, over which a time zone is looked at month by month. */
const MOST_STEPS = { hour: 35 * 24, day: 1_100, all: 36_525 } as const;
const DAY_MS = 86_400_000;
/** A page is cut from all sums, which are in memory: about 80 MB. */
const MOST_SUMS = 100_000;

interface AskedSums {
  readonly query: RollupQuery;
  /** Undefined: days are those of UTC, as they were without a time zone. */
  readonly days: ZoneDays | undefined;
}

function sumsOf(call: Call, by: SumNames = namesOf(call)): AskedSums {
  const { query } = call;
  const zone = query.one('time_zone');
  const days = zone === undefined ? undefined : daysOf(zone);
  const span = spanOf(call, days);
  const step = (['hour', 'all'] as const).find((one) => one === query.one('step')) ?? 'day';
  if ((span.to - span.from) / (step === 'hour' ? DAY_MS / 24 : DAY_MS) > MOST_STEPS[step])
    throw new ApiProblem(
      'invalid_query',
      'Sums by hour are for 35 days at most, sums by day for 1100, and others for 100 years: choose a shorter time or a longer step.',
    );
  if (days) checkHours(zone!, span, days);
  const providers = query.all('provider');
  const where = { ...whereOf(call), ...(providers.length > 0 && { provider: providers }) };
  checkLabels(call, Object.keys(query.labels));
  return { days, query: { ...span, ...by, step, where, whereLabels: query.labels, zone, most: MOST_SUMS } };
}

export const listUsage: Handler = async (call) => {
  const format = call.query.one('format');
  const focus = format === 'focus' ? { by: FOCUS_BY, labels: ledgerLabelsOf(call.settings) } : undefined;
  if (focus && call.query.one('by') !== undefined)
    throw new ApiProblem('invalid_query', 'The columns of FOCUS are fixed: leave `by` out.');
  const { query, days } = sumsOf(call, focus);
  const rows = await call.objects.store.ledger.rollups(query);
  if (focus) {
    const time = { ...query, days: days ?? daysOf('UTC') };
    const pieces = [rows.map((row) => focusRow(row, time))];
    return exported(call, { format: 'csv', name: 'usage-focus', names: FOCUS_COLUMNS, pieces, span: query });
  }
  const shown = (row: RollupRow): UsageRow => usageRow(row, query, days);
  const file = fileFormatOf(call);
  if (file) {
    const labels = (query.labels ?? []).map((name) => `label.${name}`);
    const date = days && query.step === 'day' ? ['date', 'day'] : [];
    const sums = ['requests', 'attempts', 'hits', ...LEDGER_SUMS, 'cost_usd', 'saturated'];
    const flat = rows.map((row) => ({ ...shown(row), ...labelledOf(row) }));
    const names = ['start', ...date, ...query.by, ...labels, ...sums];
    return exported(call, { format: file, names, pieces: [flat], span: query });
  }
  const page = pageOf(rows, (row) => nameOf(row, query), call.query);
  return { body: { ...page, items: page.items.map(shown) } };
};

const labelledOf = ({ labels }: RollupRow): UsageRow =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [`label.${name}`, value]));

const nameOf = (row: RollupRow, { by, labels = [] }: RollupQuery): string =>
  sumName(row, [...by.map((dimension) => row.names[dimension]!), ...labels.map((name) => row.labels[name]!)]);

type UsageRow = Readonly<Record<string, unknown>>;

const usageRow = (
  { start, day, names, labels, saturated, requests, attempts, hits, ms, firstMs, ...sums }: RollupRow,
  { by, step }: RollupQuery,
  days: ZoneDays | undefined,
): UsageRow => ({
  start: new Date(start).toISOString(),
  ...(days && step === 'day' && { date: dateText(day === 'utc' ? start : days.dateOf(start)), day: day ?? 'zone' }),
  ...Object.fromEntries(by.map((dimension) => [dimension, names[dimension] ?? ''])),
  ...(Object.keys(labels).length > 0 && { labels }),
  requests,
  attempts,
  hits,
  ...Object.fromEntries(LEDGER_SUMS.map((sum) => [sum, sums[sum]])),
  cost_usd: costText(sums.nano),
  saturated,
  ms,
  first_ms: firstMs,
});

const dateText = (date: number): string => new Date(date).toISOString().slice(0, 10);

export const listLedger: Handler = async (call) => {
  const { ledger } = call.objects.store;
  const span = spanOf(call);
  const wanted: LedgerQuery = { ...span, where: whereOf(call) };
  const format = fileFormatOf(call);
  if (call.query.one('format') === 'focus')
    throw new ApiProblem('invalid_query', 'Sums have the columns of FOCUS: `GET /usage?format=focus`.');
  if (format) return exported(call, { format, names: LEDGER_COLUMNS, pieces: shownPieces(ledger.rows(wanted)), span });
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
  const [at, req, att, kind] = (/^\[[^[\]]*\]$/.test(cursor) && listOf(parseJson(cursor))) || [];
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

function fileFormatOf({ query }: Call): 'csv' | 'jsonl' | undefined {
  const format = query.one('format');
  return format === 'csv' || format === 'jsonl' ? format : undefined;
}

interface Export {
  readonly format: 'csv' | 'jsonl';
  /** Of the file. Default: that of the resource. */
  readonly name?: string;
  readonly names: readonly string[];
  readonly pieces: PiecesOfRows;
  readonly span: TimeRange;
}

/** A file leaves the gateway's control: the audit has a row of it. */
async function exported(call: Call, { format, name, names, pieces, span }: Export): Promise<CallAnswer> {
  const kind = call.operation.slice(0, call.operation.indexOf('.'));
  const id = `${new Date(span.from).toISOString()}/${new Date(span.to).toISOString()}`;
  await call.objects.store.audit.add(
    { action: 'export', kind, id, reason: `${call.operation} ${call.query.one('format')}` },
    actorOf(call),
  );
  return { file: { type: TYPES[format], name: `${name ?? kind}.${format}`, pieces: fileOf(format, names, pieces) } };
}

interface TimeRange {
  readonly from: number;
  readonly to: number;
}

/** Dates without a time are midnights of the zone. */
function spanOf({ query, clock }: Call, days?: ZoneDays): TimeRange {
  const momentOf = (name: 'from' | 'to'): number | undefined => {
    const moment = query.moment(name);
    return days && moment !== undefined && query.one(name)!.length === 10 ? days.startOf(moment) : moment;
  };
  const to = momentOf('to') ?? clock.wall();
  const from = momentOf('from') ?? Math.max(0, to - DAY_MS);
  if (from > to) throw new ApiProblem('invalid_query', '`from` must not be after `to`.');
  return { from, to };
}

function daysOf(zone: string): ZoneDays {
  try {
    // An offset such as +02:00, which Intl reads too, has no summer time.
    if (/^[A-Za-z]/.test(zone)) return new ZoneDays(zone);
  } catch {
    // Intl knows no such name.
  }
  throw new ApiProblem('invalid_query', '`time_zone` must be a name of the IANA database, such as Europe/Berlin.');
}

function checkHours(zone: string, { from, to }: TimeRange, days: ZoneDays): void {
  const minutes = days.brokenOffset(from, to);
  if (minutes === undefined) return;
  throw new ApiProblem(
    'invalid_query',
    `Sums are kept by hours of UTC, and days of ${zone} begin between two of them: it is ${minutes} minutes from UTC. Leave \`time_zone\` out, or name a zone of whole hours.`,
  );
}

type SumNames = Required<Pick<RollupQuery, 'by' | 'labels'>>;

const NAMED: readonly RollupDimension[] = [...LEDGER_DIMENSIONS, 'provider'];
const isNamed = (name: string): name is RollupDimension => NAMED.some((one) => one === name);

function namesOf(call: Call): SumNames {
  const names = (call.query.one('by') ?? '').split(',').filter((name) => name !== '');
  const by = names.filter(isNamed);
  const labels = names.filter((name) => name.startsWith(LABEL)).map((name) => name.slice(LABEL.length));
  if (by.length + labels.length < names.length || new Set(names).size < names.length)
    throw new ApiProblem('invalid_query', `\`by\` may have ${NAMED.join(', ')} and ${LABEL}NAME, each once.`);
  checkLabels(call, labels);
  return { by, labels };
}

/** A label that the ledger does not keep would be empty in all rows, without a word. */
function checkLabels(call: Call, names: readonly string[]): void {
  const known = ledgerLabelsOf(call.settings);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const has = known.length === 0 ? 'it names none' : `it has ${known.join(', ')}`;
  throw new ApiProblem(
    'invalid_query',
    `The ledger has no label \`${unknown.slice(0, 64)}\`: \`state.ledger_labels\` of server.yaml names those that it keeps, and ${has}.`,
  );
}
