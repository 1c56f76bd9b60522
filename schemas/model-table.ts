/** Writes src/core/catalog/model-table/table.generated.ts from data/models.json. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
export const TABLE_SOURCE = join(ROOT, 'data/models.json');
export const TABLE_OUTPUT = join(ROOT, 'src/core/catalog/model-table/table.generated.ts');

/** A row of the source; data/models.schema.json describes it. */
interface Row {
  readonly id: string;
  readonly on: readonly string[];
  readonly aka?: readonly string[];
  readonly ctx?: number;
  readonly max_in?: number;
  readonly max_out?: number;
  readonly caps?: readonly string[];
  readonly retires?: readonly { readonly on?: readonly string[]; readonly day: string; readonly successor?: string }[];
}

/** Limits, capabilities and days of retirement. Prices are a table of their own: price-table.ts. */
export function generateModelTable(): string {
  const source = JSON.parse(readFileSync(TABLE_SOURCE, 'utf8')) as {
    readonly as_of: string;
    readonly sources: Readonly<Record<string, { readonly what: string; readonly licence?: string }>>;
    readonly models: readonly Row[];
  };
  const notices = Object.values(source.sources).map(
    ({ what, licence }) => `//   ${what}${licence === undefined ? '' : ` (${licence})`}`,
  );
  const capabilities = [...new Set(source.models.flatMap(({ caps = [] }) => caps))].toSorted();
  const rows = source.models.map(({ id, on, aka = [], ctx, max_in, max_out, caps = [], retires = [] }) => {
    const limits = [ctx, max_in, max_out].map((limit) => limit ?? 'none').join(', ');
    const capabilities = caps.map((name) => `'${name}'`).join(', ');
    const ends = retires.map(({ on: at = on, day, successor }) => `, ${quoted([day, successor ?? '-', ...at])}`);
    return `  [${quoted(on)}, ${quoted([id, ...aka])}, ${limits}, [${capabilities}]${ends.join('')}],`;
  });
  return `// Generated from data/models.json by \`node schemas/generate.ts\`. Do not edit: change data/models.json and run it again.
// As of ${source.as_of}. The facts are taken from these sources, whose licences NOTICE contains:
${notices.join('\n')}

export type Capability =
${capabilities.map((name) => `  | '${name}'`).join('\n')};

/** Providers, names, context window, largest input if smaller, largest answer, capabilities, days of retirement. */
export type ModelRow = readonly [
  providers: string,
  names: string,
  context: number | undefined,
  input: number | undefined,
  output: number | undefined,
  capabilities: readonly Capability[],
  /** The day, the successor or \`-\`, and the providers. */
  ...retirements: readonly string[],
];

const none = undefined;

/** Spaces separate the words of one text. */
export const ROWS: readonly ModelRow[] = [
${rows.join('\n')}
];
`;
}

export const quoted = (words: readonly string[]): string => {
  const text = words.join(' ');
  if (/['\\]/.test(text) || words.some((word) => word.includes(' '))) throw new Error(`not a list of words: ${text}`);
  return `'${text}'`;
};
