/** From measured windows to rows, and from rows to the tables of the docs: no clock, no process. */
import { TARGET_IDS, TARGETS, WORKLOAD_IDS, WORKLOADS, type Run, type TargetId, type WorkloadId } from './workloads.ts';

/** What a target costs in one round: medians of its windows. */
export interface BenchWindow {
  readonly target: TargetId;
  readonly workload: WorkloadId;
  /** CPU time per request, in microseconds. */
  readonly us: number;
  /** Share of the gateway's core that other programs took. */
  readonly foreign: number;
  /** Its CPU time by that of the base, which ran beside it, in turns. */
  readonly toBase: number;
  /** For a client of Responses: its CPU time by that of a client of chat completions of the same process, in turns. */
  readonly toChat?: number;
}

export interface Spread {
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

export interface BenchRow {
  readonly workload: WorkloadId;
  readonly target: TargetId;
  readonly us: Spread;
  /** Median of the rounds' ratios to the base of the run: the bare proxy, or Gatehouse without a plugin. */
  readonly ratio: number;
  /** For a client of Responses: the median of the windows' quotients (BenchWindow.toChat). */
  readonly toChat?: number;
  readonly rounds: number;
  /** Median share of the core that other programs took. */
  readonly foreign: number;
}

export interface StartRow {
  readonly cache: 'cold' | 'warm';
  /** From the start of the process to its first reply with status 200. */
  readonly ms: Spread;
  readonly rssMb: Spread;
  readonly rounds: number;
}

/** docs/bench.json. */
export interface BenchResults {
  readonly command: string;
  readonly machine: { readonly cores: number; readonly cpu: string; readonly memoryGb: number };
  readonly node: string;
  readonly commit: string;
  readonly date: string;
  readonly rows: readonly BenchRow[];
  readonly starts: readonly StartRow[];
}

/** Requests and failures from the last line that post.lua prints. */
export function parseWrk(text: string): { readonly requests: number; readonly failed: number } {
  const [, requests, refused, lost] = /^@@(\d+) (\d+) (\d+)$/m.exec(text) ?? [];
  if (requests === undefined) throw new Error(`wrk printed no result: ${text}`);
  return { requests: Number(requests), failed: Number(refused) + Number(lost) };
}

/** With an even number of values, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return (sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2;
}

const rounded = (value: number, digits: number): number => Number(value.toFixed(digits));

export const spreadOf = (values: readonly number[]): Spread => ({
  min: rounded(Math.min(...values), 1),
  median: rounded(median(values), 1),
  max: rounded(Math.max(...values), 1),
});

/** One row for each measured pair, in the order of the tables of workloads and targets. */
export function rowsOf(windows: readonly BenchWindow[]): readonly BenchRow[] {
  return WORKLOAD_IDS.flatMap((workload) =>
    TARGET_IDS.flatMap((target) => {
      const own = windows.filter((one) => one.workload === workload && one.target === target);
      if (own.length === 0) return [];
      const us = own.map((one) => one.us);
      const foreign = rounded(median(own.map((one) => one.foreign)), 3);
      const ratio = rounded(median(own.map((one) => one.toBase)), 2);
      const row = { workload, target, us: spreadOf(us), ratio, rounds: own.length, foreign };
      const toChat = own.flatMap((one) => one.toChat ?? []);
      return [toChat.length > 0 ? { ...row, toChat: rounded(median(toChat), 2) } : row];
    }),
  );
}

/** Rows whose ratio is over the limit of the run, in words. */
export const overLimits = (rows: readonly BenchRow[], limits: Run['limits'] = {}): readonly string[] =>
  rows.flatMap(({ target, workload, ratio }) => {
    const most = limits[target]?.[workload];
    return most !== undefined && ratio > most ? [`${target}, ${workload}: ${ratio} is over the limit of ${most}`] : [];
  });

const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;
const spreadText = ({ min, median, max }: Spread): string =>
  `${median.toFixed(0)} (${min.toFixed(0)}–${max.toFixed(0)})`;
const rowText = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;

/** The generated table of the page on performance. */
export function benchText(
  { command, machine, node, commit, date, rows, starts }: BenchResults,
  base = 'bare proxy',
): string {
  const where = `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGb} GB`;
  const lines = [
    `\`${command}\`, ${date}, commit ${commit}, Node ${node}, ${where}:`,
    '',
    `| Request | Gateway | CPU µs per request | × ${base} | Rounds | Other programs |`,
    '|---|---|---:|---:|---:|---:|',
    ...rows.map(({ workload, target, us, ratio, rounds, foreign }) =>
      rowText([WORKLOADS[workload].title, TARGETS[target], spreadText(us), ratio.toFixed(2), rounds, percent(foreign)]),
    ),
    '',
    ...quotients(rows),
  ];
  if (starts.length === 0) return lines.join('\n');
  return [
    ...lines,
    '| Start of the packed install | ms to the first 200 | Idle memory, MB | Rounds |',
    '|---|---:|---:|---:|',
    ...starts.map(({ cache, ms, rssMb, rounds }) =>
      rowText([`${cache} compile cache`, spreadText(ms), spreadText(rssMb), rounds]),
    ),
    '',
  ].join('\n');
}

function quotients(rows: readonly BenchRow[]): readonly string[] {
  const texts = rows.flatMap(({ workload, toChat }) =>
    toChat === undefined ? [] : [`${toChat.toFixed(2)} (${WORKLOADS[workload].title})`],
  );
  if (texts.length === 0) return [];
  return [`A client of Responses ÷ a client of chat completions, both to Anthropic: ${texts.join(', ')}.`, ''];
}

/** The generated table of README: the rows of the smallest request. */
export const shortText = ({ rows }: Pick<BenchResults, 'rows'>): string =>
  [
    '| Gateway, request of 1 KB | CPU µs per request | × bare proxy |',
    '|---|---:|---:|',
    ...rows
      .filter(({ workload }) => workload === 'json-1k')
      .map(({ target, us, ratio }) => rowText([TARGETS[target], us.median.toFixed(0), ratio.toFixed(2)])),
    '',
  ].join('\n');
