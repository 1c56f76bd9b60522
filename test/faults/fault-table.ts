import { fileURLToPath } from 'node:url';
import { readFileSync, writeFileSync } from 'node:fs';
import { AFTER_CONTENT, REFUSALS, SETUP_NAMES, SILENCES, type Outcome, type Row } from './scenarios.ts';

/** The table of faults in README.md, written from what the tests expect. Anew with `node test/faults/fault-table.ts`. */

export const README = fileURLToPath(new URL('README.md', import.meta.url));
const BEGIN = '<!-- faults: begin -->';
const END = '<!-- faults: end -->';

export function withFaults(readme: string): string {
  const [before, rest = ''] = readme.split(BEGIN);
  const [, after = ''] = rest.split(END);
  return `${before}${BEGIN}\n${faultTable()}\n${END}${after}`;
}

const TABLES: Readonly<Record<string, readonly Row[]>> = {
  'It answers, and the answer is of no use': REFUSALS,
  'It says nothing, or breaks off before its first content': SILENCES,
  'It breaks when the client has its first words': AFTER_CONTENT,
};

function faultTable(): string {
  const rule = `|---|${'---|'.repeat(SETUP_NAMES.length)}`;
  return Object.entries(TABLES)
    .map(([title, rows]) => `\n| ${title} | ${SETUP_NAMES.join(' | ')} |\n${rule}\n${rows.map(lineOf).join('')}`)
    .join('');
}

function lineOf(row: Row): string {
  const only = [...(row.dialects ?? []), ...(row.forms ?? [])].join(', ');
  const cells = SETUP_NAMES.map((setup) => cellOf(row, row.outcome[setup]));
  return `| ${row.fault}${only && ` (${only})`} | ${cells.join(' | ')} |\n`;
}

function cellOf(row: Row, { end, tries }: Outcome): string {
  const after = tries > 1 ? ` after ${tries} tries` : '';
  if (end === 'primary') return tries > 1 ? `answered by try ${tries}` : 'answered';
  if (end === 'fallback') return `fallback${after}`;
  return end === 'broken' ? `error event \`${row.code}\`` : `${row.status} \`${row.code}\`${after}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(README, withFaults(readFileSync(README, 'utf8')));
