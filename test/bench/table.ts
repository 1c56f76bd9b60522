/** Writes the table of docs/reference/performance.md from docs/bench.json: `node test/bench/table.ts`. table.test.ts compares. */
import { readFileSync, writeFileSync } from 'node:fs';
import { packageFile } from '../../src/package-root.ts';
import { benchText, type BenchResults } from './figures.ts';

export const README = packageFile('docs/reference/performance.md');
export const RESULTS = packageFile('docs/bench.json');
const BEGIN = '<!-- Generated from docs/bench.json by `node test/bench/table.ts`. -->';
const END = '<!-- End of the generated table of costs. -->';

export const readResults = (): BenchResults => JSON.parse(readFileSync(RESULTS, 'utf8')) as BenchResults;

export function withBench(readme: string, text: string): string {
  const from = readme.indexOf(BEGIN);
  const to = readme.indexOf(END);
  if (from < 0 || to < from) throw new Error('docs/reference/performance.md has no place for its table');
  return `${readme.slice(0, from + BEGIN.length)}\n\n${text}\n${readme.slice(to)}`;
}

if (import.meta.main) writeFileSync(README, withBench(readFileSync(README, 'utf8'), benchText(readResults())));
