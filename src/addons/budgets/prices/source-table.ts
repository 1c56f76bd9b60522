import { matches } from '../../../core/catalog/globs.ts';
import { picoOf } from '../../../core/ports/money.ts';
import type { TableRow } from './price-table.ts';
import { PRICE_KINDS, type PriceKind, type PriceRow, type Prices, type PriceStep } from './rates.ts';

/** The kinds of prices of data/models.json. Kinds that no usage counts are left out. */
const KINDS = new Map<string, { readonly kind: PriceKind; readonly per: number }>([
  ...PRICE_KINDS.map((kind) => [kind.source, kind] as const),
  ['audio_in_hour', { kind: 'second', per: 3600 }],
]);

type SourcePrices = Readonly<Record<string, unknown>>;
type Factors = Readonly<Record<string, number | SourcePrices>>;

export interface SourceRow {
  readonly id: string;
  readonly on: readonly string[];
  readonly kind: string;
  readonly aka?: readonly string[];
  readonly p: readonly (SourcePrices & { readonly from?: string; readonly long?: SourcePrices & { over: number } })[];
  readonly tiers?: Factors;
  readonly geo?: Readonly<Record<string, number>>;
  readonly fast?: number;
}

interface SourceRule {
  readonly on: readonly string[];
  readonly models?: readonly string[];
  readonly kind?: string;
  readonly tiers?: Factors;
  readonly geo?: Readonly<Record<string, number>>;
}

interface SourceTool {
  readonly on: readonly string[];
  readonly tool: string;
  readonly patterns?: readonly string[];
  readonly per_k?: number;
  readonly per_session?: number;
  readonly count?: 'once' | 'each';
}

/** data/models.json, and newer tables in its form. */
export interface SourceTable {
  readonly as_of: string;
  readonly rules: readonly SourceRule[];
  readonly tools: readonly SourceTool[];
  readonly models: readonly SourceRow[];
}

const TOOL_KINDS: Readonly<Record<string, string>> = {
  google_search: 'search_k',
  web_search: 'search_k',
  vertex_ai_search: 'file_search_k',
  file_search: 'file_search_k',
  google_maps: 'map_search_k',
  code_interpreter: 'container',
};

type ReportRow = (path: readonly (string | number)[], message: string) => void;

/** The rows of a table that have prices, as integers of pico-USD. */
export function compileTable({ rules, tools, models }: SourceTable, report: ReportRow): readonly TableRow[] {
  const seen = new Set<string>();
  return models.flatMap((row, index): TableRow[] => {
    const reportAt: ReportRow = (path, message) => report(['models', index, ...path], message);
    const names = [row.id, ...(row.aka ?? [])];
    for (const place of row.on.flatMap((provider) => names.map((name) => `${provider}/${name}`))) {
      if (seen.has(place)) reportAt(['id'], `${place} is in the table twice`);
      seen.add(place);
    }
    return row.p.length === 0 ? [] : [[row.on.join(' '), names.join(' '), compileRow(row, { rules, tools }, reportAt)]];
  });
}

function compileRow(
  row: SourceRow,
  { rules, tools }: Pick<SourceTable, 'rules' | 'tools'>,
  report: ReportRow,
): PriceRow {
  const { tiers, geo } = withRules(row, rules);
  const own = tools.filter((tool) => isToolOf(tool, row));
  const searches = own.find(({ count }) => count)?.count;
  const steps = row.p.map(({ from = '', long, ...prices }, at): PriceStep => {
    if (at > 0 && from <= (row.p[at - 1]!.from ?? ''))
      report(['p', at, 'from'], 'steps are ordered by their first day');
    const longer = long && {
      over: long.over,
      prices: picoPrices(long, (name, message) => report(['p', at, 'long', name], message)),
    };
    return {
      from,
      prices: picoPrices(withTools(prices, own), (name, message) => report(['p', at, name], message)),
      ...(longer && { long: longer }),
    };
  });
  return {
    ...(row.kind !== 'chat' && { kind: row.kind }),
    steps,
    ...(tiers && { tiers: picoFactors(tiers, (name, message) => report(['tiers', name], message)) }),
    ...(geo && { geo }),
    ...(row.fast && { fast: row.fast }),
    ...(searches && { searches }),
  };
}

function withRules(row: SourceRow, rules: readonly SourceRule[]): Pick<SourceRow, 'tiers' | 'geo'> {
  const own = rules.filter(
    ({ on, models = [], kind }) =>
      row.on.every((provider) => on.includes(provider)) &&
      models.some((pattern) => matches(pattern, row.id)) &&
      (kind === undefined || kind === row.kind),
  );
  const tiers = row.tiers ?? own.find((rule) => rule.tiers)?.tiers;
  const geo = row.geo ?? own.find((rule) => rule.geo)?.geo;
  return { ...(tiers && { tiers }), ...(geo && { geo }) };
}

const isToolOf = ({ on, patterns = [] }: SourceTool, { id, on: providers, kind }: SourceRow): boolean =>
  (kind === 'chat' || kind === 'image') &&
  providers.some((provider) => on.includes(provider)) &&
  patterns.some((pattern) => matches(pattern, id));

function withTools(prices: SourcePrices, tools: readonly SourceTool[]): SourcePrices {
  const more = tools.flatMap(({ tool, per_k, per_session }): [string, number][] => {
    const kind = TOOL_KINDS[tool];
    const price = per_k ?? per_session;
    return kind === undefined || price === undefined ? [] : [[kind, price]];
  });
  // The first of two prices of a tool is in force.
  return { ...Object.fromEntries(more.toReversed()), ...prices };
}

type ReportPrice = (name: string, message: string) => void;

function picoPrices(prices: SourcePrices, report: ReportPrice): Prices {
  const known = Object.entries(prices).flatMap(([name, usd]) => {
    const found = KINDS.get(name);
    if (!found) return [];
    const pico = picoOf(Number(usd), found.per);
    if (pico === undefined) report(name, `${String(usd)} is no integer of pico-USD`);
    return pico === undefined ? [] : [[found.kind, pico] as const];
  });
  return Object.fromEntries(known);
}

const picoFactors = (factors: Factors, report: ReportPrice): NonNullable<PriceRow['tiers']> =>
  Object.fromEntries(
    Object.entries(factors).map(([name, value]) => [
      name,
      typeof value === 'number' ? value : picoPrices(value, (_, message) => report(name, message)),
    ]),
  );
