/** Writes src/catalog/model-limits/table.generated.ts from limits.json beside it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '../src/catalog/model-limits');
export const LIMITS_OUTPUT = join(FOLDER, 'table.generated.ts');

/** A row of the source. Sources and their licences are named in the file itself. */
interface Row {
  readonly on: string;
  readonly id: string;
  readonly aka?: readonly string[];
  readonly ctx: number;
  readonly max_out: number;
}

export function generateModelLimits(): string {
  const source = JSON.parse(readFileSync(join(FOLDER, 'limits.json'), 'utf8')) as {
    readonly as_of: string;
    readonly sources: Readonly<Record<string, { readonly what: string; readonly licence?: string }>>;
    readonly models: readonly Row[];
  };
  const notices = Object.values(source.sources).map(
    ({ what, licence }) => `//   ${what}${licence === undefined ? '' : ` (${licence})`}`,
  );
  const lines = source.models.flatMap(({ on, id, aka = [], ctx, max_out }) =>
    [id, ...aka].map((name) => `  ['${on}/${name}', { output: ${max_out}, context: ${ctx} }],`),
  );
  return `// Generated from limits.json by \`node schemas/generate.ts\`. Do not edit: change limits.json and run it again.
// As of ${source.as_of}. The facts are taken from these sources, whose licences NOTICE contains:
${notices.join('\n')}

/** Limits in tokens, by provider and model name. \`context\`: input and output together. */
export const LIMITS: ReadonlyMap<string, { readonly output: number; readonly context: number }> = new Map([
${lines.join('\n')}
]);
`;
}
