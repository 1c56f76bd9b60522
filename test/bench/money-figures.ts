/** The table of what the money of a request costs: no clock, no process. */
import type { BenchResults, Spread } from './figures.ts';

/** In the order of the table: each step has what those before it have. */
export const MONEY_STEPS = {
  purse: 'reserve and settle on a path of five budgets',
  rows: 'and the row of the ledger, without a state store',
  spool: 'and the spool, one request a turn of the event loop',
  store: 'and the hand-over to SQLite, and its thread',
  four: 'all of it, four requests a turn, which share a write',
} as const;
export type MoneyStep = keyof typeof MONEY_STEPS;

/** docs/bench-money.json. */
export interface MoneyResults extends Pick<BenchResults, 'machine' | 'node' | 'commit' | 'date'> {
  /** CPU time of all threads, in microseconds for each request, without the turns of the event loop. */
  readonly us: Readonly<Record<MoneyStep, Spread>>;
  /** Rows that the ledger on SQLite took in a second. */
  readonly rowsPerSecond: Spread;
}

export function moneyText({ machine, node, commit, date, us, rowsPerSecond }: MoneyResults): string {
  const rows = Object.entries(MONEY_STEPS).map(([step, title]) => {
    const { min, median, max } = us[step as MoneyStep];
    return `| ${title} | ${median.toFixed(1)} (${min.toFixed(1)}–${max.toFixed(1)}) |`;
  });
  const thousand = (value: number): string => Math.round(value).toLocaleString('en-US');
  return [
    `\`npm run bench -- money\`, ${date}, commit ${commit}, Node ${node}, ${machine.cpu}, ${machine.cores} cores:`,
    '',
    '| What a request does | CPU µs in its process |',
    '|---|---:|',
    ...rows,
    '',
    `The ledger on SQLite took ${thousand(rowsPerSecond.median)} rows a second (${thousand(rowsPerSecond.min)}–${thousand(rowsPerSecond.max)}).`,
    '',
  ].join('\n');
}
