/**
 * The codes in docs/reference/errors.md: a heading for each, so that the search and links lead to one code. `node test/docs/errors-table.ts`
 * writes them anew; errors-page.test.ts compares.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERRORS, type ErrorKind } from '../../src/plugin/error-codes.ts';

export const PAGE = join(import.meta.dirname, '../../docs/reference/errors.md');

const BEGIN = '<!-- Generated from the table of errors by `npm run generate`. -->\n';
const END = '<!-- End of the generated part. -->';

const codes: readonly (readonly [string, ErrorKind])[] = Object.entries(ERRORS);
const statuses = [...new Set(codes.map(([, { status }]) => status))].toSorted((a, b) => a - b);

const sectionOf = ([code, { help, type, retryable }]: readonly [string, ErrorKind]): string =>
  `### \`${code}\`\n\n${help} Type \`${type}\`${retryable ? '; another try or another target may succeed' : ''}.\n`;

const GENERATED = statuses
  .map((status) => {
    const sections = codes.filter(([, kind]) => kind.status === status).map(sectionOf);
    return `\n## Status ${status}\n\n${sections.join('\n')}`;
  })
  .join('');

/** The page with its codes made anew. */
export function withCodes(page: string): string {
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error(`${PAGE} has no generated part`);
  return `${before}${BEGIN}${GENERATED}\n${END}${after}`;
}

if (import.meta.main) writeFileSync(PAGE, withCodes(readFileSync(PAGE, 'utf8')));
