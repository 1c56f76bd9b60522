import type { PriceRule, PricesFile, UsdPrices } from '../../../../schemas/types.generated.ts';
import { Slot, type Extras, type ExtraReader } from '../../../core/settings/source/extra-files.ts';
import type { StoredObjects, StoredPrice } from '../../../core/settings/source/stored-objects.ts';
import { readFileSync } from 'node:fs';
import { packageFile } from '../../../core/kernel/package-root.ts';
import { compileTable, type SourceTable } from '../prices/source-table.ts';
import type { Diagnostic } from '../../../core/settings/source/diagnostic.ts';
import { schemaProblems } from '../../../core/settings/problems/schema-problems.ts';
import type { SettingsFiles } from '../../../core/settings/source/files.ts';
import { YamlFile } from '../../../core/settings/source/yaml-file.ts';
import { absoluteRefs, SchemaTree, type Schema } from '../../../core/settings/schema/schema-files.ts';
import { createAjv } from '../../../core/settings/schema/schemas.ts';
import { SHIPPED_PRICES, type PriceTable } from '../prices/price-table.ts';
import { picoOf } from '../../../core/ports/money.ts';
import { PRICE_KINDS, type Prices, type PriceOverride } from '../prices/rates.ts';

interface PriceFiles {
  /** prices.yaml: prices of the operator. Undefined: it could not be read. */
  readonly rules: PricesFile | undefined;
  /** The shipped prices, and before them those of price-table.json. */
  readonly table: PriceTable;
}

const NO_RULES: PricesFile = { prices: [] };
const slot = new Slot<PriceFiles>({ rules: undefined, table: SHIPPED_PRICES });

export const priceFilesOf = (settings: { readonly extras?: Extras | undefined }): PriceFiles => slot.in(settings);

/** Extras with this rule in place of those of prices.yaml, for a check of it. */
export function extrasWithRule(others: Extras, rule: object): Extras {
  const extras = {};
  slot.put(extras, { ...slot.in({ extras: others }), rules: { prices: [rule as PriceRule] } });
  return extras;
}

/** Prices of the operator: of prices.yaml, then of the state store. The shipped ones are not among them. */
export const ownPrices = (settings: {
  readonly extras: Extras;
  readonly stored: StoredObjects | undefined;
}): PricesFile => withStoredPrices(priceFilesOf(settings).rules ?? NO_RULES, settings.stored);

/** The rules of prices.yaml, and after them those of the store in the order of their ids. */
function withStoredPrices({ prices }: PricesFile, stored: StoredObjects | undefined): PricesFile {
  const own = [...(stored?.objects.values() ?? [])]
    .filter((one): one is StoredPrice => one.kind === 'prices' && one.problem === undefined)
    .toSorted((one, other) => (one.id < other.id ? -1 : 1));
  return { prices: [...prices, ...own.map(({ id, value }) => ({ ...value, id }))] };
}

/** The prices of a rule. `pico` is undefined for a price with more decimals than count. */
export const pricesGiven = (usd: UsdPrices) =>
  PRICE_KINDS.flatMap(({ kind, yaml: name, per }) => {
    const price = usd[name];
    return price === undefined ? [] : [{ name, kind, usd: price, pico: picoOf(price, per) }];
  });

/** The operator's prices in the order of the file. */
export const compilePrices = ({ prices }: PricesFile): readonly PriceOverride[] => prices.map(compileRule);

const compileRule = ({ id: _, entry, usd, long, source: __, ...rule }: PriceRule): PriceOverride => ({
  ...rule,
  entry: entry?.slice(1),
  prices: usd && picoPrices(usd),
  long: long && { over: long.over, prices: picoPrices(long.usd) },
});

const picoPrices = (usd: UsdPrices): Prices =>
  Object.fromEntries(pricesGiven(usd).map(({ kind, pico }) => [kind, pico]));

export const readPriceFiles: ExtraReader = async ({ found: { priceTable: path }, read, files }, extras) => {
  const own = read.find(({ found }) => found.kind === 'prices');
  // The schema of the file has been checked.
  const rules = (own ? own.value : NO_RULES) as PricesFile | undefined;
  if (path === undefined) {
    slot.put(extras, { rules, table: SHIPPED_PRICES });
    return { complete: true, diagnostics: [], paths: [], hashed: [] };
  }
  const { table, text, source, diagnostics } = await readPriceTable(path, files);
  slot.put(extras, { rules, table });
  return { complete: source !== undefined, diagnostics, paths: [path], hashed: [['price-table', text]] };
};

interface ReadPriceTable {
  /** Undefined for a file with mistakes. */
  readonly source: SourceTable | undefined;
  readonly table: PriceTable;
  readonly text: string;
  readonly diagnostics: readonly Diagnostic[];
}

/** @param name the path in diagnostics */
export async function readPriceTable(path: string, files: SettingsFiles, name = path): Promise<ReadPriceTable> {
  const content = await files.read(path);
  if (!('text' in content)) {
    const message = 'missing' in content ? 'this file is missing' : `this file ${content.problem}`;
    return unread('', [{ file: name, line: 1, column: 1, severity: 'error', message }]);
  }
  const { text } = content;
  const yaml = YamlFile.parse(name, text);
  if (yaml.syntaxErrors.length > 0) return unread(text, yaml.syntaxErrors);
  const json: unknown = yaml.document.toJS();
  const broken = brokenBySchema(json).map((problem) => yaml.diagnose(problem));
  if (broken.length > 0) return unread(text, broken);
  // The schema has just been checked.
  const source = json as SourceTable;
  const diagnostics: Diagnostic[] = [];
  const rows = compileTable(source, (at, message) => diagnostics.push(yaml.diagnose({ path: at, message })));
  if (diagnostics.length > 0) return unread(text, diagnostics);
  if (source.as_of < SHIPPED_PRICES.asOf) {
    const message = `the prices of this table are older (${source.as_of}) than the shipped ones (${SHIPPED_PRICES.asOf}), before which they stand`;
    diagnostics.push(yaml.diagnose({ path: ['as_of'], severity: 'warning', message }));
  }
  return { source, table: SHIPPED_PRICES.with(source.as_of, rows), text, diagnostics };
}

const unread = (text: string, diagnostics: readonly Diagnostic[]): ReadPriceTable => ({
  source: undefined,
  table: SHIPPED_PRICES,
  text,
  diagnostics,
});

function brokenBySchema(json: unknown): ReturnType<typeof schemaProblems> {
  const raw = JSON.parse(readFileSync(packageFile('data/models.schema.json'), 'utf8')) as Schema;
  const schema = absoluteRefs(raw, String(raw['$id']));
  const validate = createAjv({ trusted: true }).addSchema(schema).getSchema(String(raw['$id']))!;
  if (validate(json)) return [];
  const tree = new SchemaTree([schema]);
  return schemaProblems(validate.errors ?? [], { json, origins: new Map() }, { tree, root: tree.alternatives(schema) });
}
