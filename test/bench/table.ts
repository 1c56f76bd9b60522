/** Writes the tables of docs/reference/performance.md and README.md from docs/bench.json: `node test/bench/table.ts`. figures.test.ts compares. */
import { readFileSync, writeFileSync } from 'node:fs';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { benchText, shortText, type BenchResults } from './figures.ts';
import { moneyText, type MoneyResults } from './money-figures.ts';

export const PAGE = packageFile('docs/reference/performance.md');
export const README = packageFile('README.md');
export const RESULTS = packageFile('docs/bench.json');
export const MONEY_RESULTS = packageFile('docs/bench-money.json');
const BEGIN = '<!-- Generated from docs/bench.json by `node test/bench/table.ts`. -->';
const END = '<!-- End of the generated table of costs. -->';
const PLUGINS_BEGIN = '<!-- Generated from docs/bench-plugins.json by `node test/bench/table.ts`. -->';
const PLUGINS_END = '<!-- End of the generated table of plugins. -->';
const MONEY_BEGIN = '<!-- Generated from docs/bench-money.json by `node test/bench/table.ts`. -->';
const MONEY_END = '<!-- End of the generated table of the money of a request. -->';

export const PLUGINS_RESULTS = packageFile('docs/bench-plugins.json');

/** The base of the ratios of a run, where it is not the bare proxy. */
export const BASES = { plugins: 'no plugin', more: 'few and small' } as const;

export const readResults = (file = RESULTS): BenchResults => JSON.parse(readFileSync(file, 'utf8')) as BenchResults;

export const readMoney = (): MoneyResults => JSON.parse(readFileSync(MONEY_RESULTS, 'utf8')) as MoneyResults;

/** @param money undefined: its table stays as it is */
export function withBench(page: string, text: string, money?: string): string {
  const withTable = between(page, text, [BEGIN, END]);
  return money === undefined ? withTable : between(withTable, money, [MONEY_BEGIN, MONEY_END]);
}

export const withPlugins = (page: string, results: BenchResults): string =>
  between(page, benchText(results, BASES.plugins), [PLUGINS_BEGIN, PLUGINS_END]);

function between(page: string, text: string, [begin, end]: readonly [string, string]): string {
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error('The page has no place for its table');
  return `${page.slice(0, from + begin.length)}\n\n${text}\n${page.slice(to)}`;
}

if (import.meta.main) {
  const results = readResults();
  const page = withBench(readFileSync(PAGE, 'utf8'), benchText(results), moneyText(readMoney()));
  writeFileSync(PAGE, withPlugins(page, readResults(PLUGINS_RESULTS)));
  writeFileSync(README, withBench(readFileSync(README, 'utf8'), shortText(results)));
}
