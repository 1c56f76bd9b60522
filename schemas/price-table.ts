/** Writes src/prices/table.generated.ts from data/models.json. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { picoOf } from '../src/prices/money.ts';
import { matches } from '../src/prices/model-pattern.ts';
import { quoted, TABLE_SOURCE } from './model-table.ts';

export const PRICES_OUTPUT = join(import.meta.dirname, '../src/prices/table.generated.ts');

/** The kinds of prices of the source, and the units that they are for. Kinds that no usage counts are left out. */
const KINDS: Readonly<Record<string, readonly [kind: string, per: number]>> = {
  in: ['input', 1e6],
  cin: ['cached', 1e6],
  cw5: ['write5m', 1e6],
  cw1h: ['write1h', 1e6],
  out: ['output', 1e6],
  audio_in: ['audioIn', 1e6],
  audio_cin: ['audioCached', 1e6],
  image_in: ['imageIn', 1e6],
  image_cin: ['imageCached', 1e6],
  audio_out: ['audioOut', 1e6],
  image_out: ['imageOut', 1e6],
  search_k: ['search', 1e3],
  file_search_k: ['fileSearch', 1e3],
  per_image: ['image', 1],
  per_second_in: ['second', 1],
  audio_in_hour: ['second', 3600],
};

type SourcePrices = Readonly<Record<string, unknown>>;
type Factors = Readonly<Record<string, number | SourcePrices>>;

interface SourceRow {
  readonly id: string;
  readonly on: readonly string[];
  readonly kind: string;
  readonly aka?: readonly string[];
  readonly p: readonly (SourcePrices & { readonly from?: string; readonly long?: SourcePrices & { over: number } })[];
  readonly tiers?: Factors;
  readonly geo?: Factors;
  readonly fast?: number;
}

interface SourceRule {
  readonly on: readonly string[];
  readonly models?: readonly string[];
  readonly kind?: string;
  readonly tiers?: Factors;
  readonly geo?: Factors;
}

/** Prices of tools that the provider runs. */
interface SourceTool {
  readonly on: readonly string[];
  readonly tool: string;
  readonly patterns?: readonly string[];
  readonly per_k?: number;
  readonly count?: 'once' | 'each';
}

/** The kinds of prices that tools have. */
const TOOL_KINDS: Readonly<Record<string, string>> = {
  google_search: 'search_k',
  web_search: 'search_k',
  vertex_ai_search: 'file_search_k',
  file_search: 'file_search_k',
};

export function generatePriceTable(): string {
  const source = JSON.parse(readFileSync(TABLE_SOURCE, 'utf8')) as {
    readonly as_of: string;
    readonly rules: readonly SourceRule[];
    readonly tools: readonly SourceTool[];
    readonly models: readonly SourceRow[];
  };
  const rows = source.models
    .filter(({ p }) => p.length > 0)
    .map((row) => {
      const { tiers, geo } = withRules(row, source.rules);
      const tools = source.tools.filter((tool) => isToolOf(tool, row));
      const searches = tools.find(({ count }) => count)?.count;
      const steps = row.p.map(({ from = '', long, ...prices }) => {
        const longer = long && `, long: { over: ${long.over}, prices: ${priced(row.id, long)} }`;
        return `{ from: '${from}', prices: ${priced(row.id, withTools(prices, tools))}${longer ?? ''} }`;
      });
      const factors = [
        tiers && `tiers: ${written(row.id, tiers)}`,
        geo && `geo: ${written(row.id, geo)}`,
        row.fast && `fast: ${row.fast}`,
        searches && `searches: '${searches}'`,
      ];
      const more = factors.filter(Boolean).map((text) => `, ${text}`);
      const names = quoted([row.id, ...(row.aka ?? [])]);
      return `  [${quoted(row.on)}, ${names}, { steps: [${steps.join(', ')}]${more.join('')} }],`;
    });
  return `// Generated from data/models.json by \`node schemas/generate.ts\`. Do not edit: change data/models.json and run it again.
// Prices are pico-USD per token, search, picture or second, and are not warranted. Sources and licences: data/models.json, NOTICE.

import type { PriceRow } from './rates.ts';

/** The day on which the sources were read. */
export const PRICES_AS_OF = '${source.as_of}';

/** Providers and names, separated by spaces, and their prices. */
export const PRICE_ROWS: readonly (readonly [providers: string, names: string, row: PriceRow])[] = [
${rows.join('\n')}
];
`;
}

/** The factors of a row, or those of the first rule for it. */
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

/** The prices of a row, and those of tools of which it has none. */
function withTools(prices: SourcePrices, tools: readonly SourceTool[]): SourcePrices {
  const more = tools.flatMap(({ tool, per_k: price }): [string, number][] => {
    const kind = TOOL_KINDS[tool];
    return kind === undefined || price === undefined ? [] : [[kind, price]];
  });
  // Of two prices of a tool the first holds.
  return { ...Object.fromEntries(more.toReversed()), ...prices };
}

function priced(model: string, prices: SourcePrices): string {
  const known = Object.entries(prices).flatMap(([name, usd]) => {
    const found = KINDS[name];
    if (!found) return [];
    const pico = picoOf(Number(usd), found[1]);
    if (pico === undefined) throw new Error(`${model}: ${name} is no integer of pico-USD`);
    return [`${found[0]}: ${pico}`];
  });
  return known.length === 0 ? '{}' : `{ ${known.join(', ')} }`;
}

function written(model: string, factors: Factors): string {
  const parts = Object.entries(factors).map(
    ([name, value]) => `${name}: ${typeof value === 'number' ? value : priced(model, value)}`,
  );
  return `{ ${parts.join(', ')} }`;
}
