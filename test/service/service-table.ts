/** Writes docs/reference/service.md: `node test/service/service-table.ts`. service.test.ts compares. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestOf } from './statement.ts';
import { CHAPTERS } from './statements.ts';

const ROOT = join(import.meta.dirname, '../..');
export const DOCUMENT = join(ROOT, 'docs/reference/service.md');

const HEAD = `# The service, statement by statement

Each statement names a test that fails when the gateway breaks it. The list is test/service/statements.ts; \`npm run generate\` writes this page.
`;

/** Whether the test file has a test, or a group of tests, with the title. */
export function hasTitle([file, title]: TestOf): boolean {
  const source = readFileSync(join(ROOT, file), 'utf8');
  return ["'", '"', '`'].some(
    (quote) => source.includes(`(${quote}${title}${quote},`) || source.includes(`(\n    ${quote}${title}${quote},`),
  );
}

const nameOf = (file: string): string => file.replace(/^test\//, '').replace(/\.test\.ts$/, '');
const linkTo = ([file, title]: TestOf): string => `[${nameOf(file)}](../../${file}): ${title.replaceAll('|', '\\|')}`;

export function serviceTable(): string {
  const chapters = CHAPTERS.map(({ title, statements }) => {
    const rows = statements.map(({ text, tests }) => `| ${text} | ${tests.map(linkTo).join('<br>')} |\n`);
    return `\n## ${title}\n\n| Statement | Tests |\n|---|---|\n${rows.join('')}`;
  });
  return HEAD + chapters.join('');
}

if (import.meta.main) writeFileSync(DOCUMENT, serviceTable());
