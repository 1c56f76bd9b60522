/**
 * The tables of calls and errors in docs/operate/admin-api.md. `node test/admin/docs-table.ts` writes them anew; docs.test.ts compares.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROBLEMS } from '../../src/addons/admin/api/problems.ts';
import { OPERATIONS } from '../../src/addons/admin/api/routes.ts';

export const PAGE = join(import.meta.dirname, '../../docs/operate/admin-api.md');

const BEGIN = '<!-- Generated from the table of routes by `npm run generate`. -->\n';
const END = '<!-- End of the generated part. -->';

const calls = OPERATIONS.map(
  ([operation, { method, path, role, summary, description }]) =>
    `| \`${method} ${path}\` | ${role} | ${[summary, description].filter(Boolean).join('. ').replace(/\.?$/, '.')} | \`${operation.replace('.', ' ')}\` |\n`,
).join('');

const errors = Object.entries(PROBLEMS)
  .map(([code, { status, help }]) => `| ${status} | \`${code}\` | ${help} |\n`)
  .join('');

const GENERATED = `
| Call, below \`/admin/v1\` | Least role | | \`gatehouse admin\` |
|---|---|---|---|
${calls}
## Errors

Errors are problem details (RFC 9457) with a stable \`code\`:

| Status | \`code\` | Meaning and remedy |
|---|---|---|
${errors}
`;

/** The page with its tables made anew. */
export function withTables(page: string): string {
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error(`${PAGE} has no generated part`);
  return `${before}${BEGIN}${GENERATED}${END}${after}`;
}

if (import.meta.main) writeFileSync(PAGE, withTables(readFileSync(PAGE, 'utf8')));
