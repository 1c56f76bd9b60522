import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  benchText,
  median,
  overLimits,
  parseWrk,
  rowsOf,
  shortText,
  spreadOf,
  type BenchResults,
  type BenchWindow,
} from './figures.ts';
import { moneyText } from './money-figures.ts';
import { PAGE, PLUGINS_RESULTS, README, readMoney, readResults, withBench, withPlugins } from './table.ts';
import { RUNS, TARGETS, WORKLOADS, type Run } from './workloads.ts';

describe('the result of wrk', () => {
  it('is the requests, and the failures of every kind together', () => {
    const text = 'Running 3s test\n  1 threads and 32 connections\nRequests/sec: 9000.12\n@@27000 3 4\n';
    expect(parseWrk(text)).toEqual({ requests: 27_000, failed: 7 });
  });

  it('is an error when wrk printed none', () => {
    expect(() => parseWrk('unable to connect to 127.0.0.1:8800 Connection refused')).toThrow('Connection refused');
  });
});

describe('the median', () => {
  it.each([
    [[3, 1, 2], 2],
    [[10, 9, 100], 10],
    [[4, 1, 3, 2], 2.5],
    [[7], 7],
  ])('of %j is %d', (values, expected) => {
    expect(median(values)).toBe(expected);
  });
});

describe('the rows of a run', () => {
  const window = (target: BenchWindow['target'], us: number, toBase: number, foreign = 0): BenchWindow => ({
    target,
    workload: 'json-1k',
    us,
    foreign,
    toBase,
  });

  it('have the median of the ratios of the rounds, not the ratio of the medians', () => {
    const windows = [
      window('bare', 10, 1),
      window('gatehouse-openai', 30, 3, 0.1),
      window('bare', 20, 1),
      window('gatehouse-openai', 40, 2, 0.05),
      window('bare', 40, 1),
      window('gatehouse-openai', 100, 2.5),
    ];
    expect(rowsOf(windows)).toEqual([
      {
        workload: 'json-1k',
        target: 'bare',
        us: { min: 10, median: 20, max: 40 },
        ratio: 1,
        rounds: 3,
        foreign: 0,
      },
      {
        workload: 'json-1k',
        target: 'gatehouse-openai',
        us: { min: 30, median: 40, max: 100 },
        ratio: 2.5,
        rounds: 3,
        foreign: 0.05,
      },
    ]);
  });

  it('of a client of Responses have the median of the quotients that its windows have, not of the rows', () => {
    const windows = [1.5, 1.1, 1].flatMap((toChat) => [
      window('gatehouse-anthropic', 20, 2),
      { ...window('gatehouse-responses', 60, 6), toChat },
    ]);
    expect(rowsOf(windows).map(({ target, toChat }) => [target, toChat])).toEqual([
      ['gatehouse-anthropic', undefined],
      ['gatehouse-responses', 1.1],
    ]);
  });
});

describe('the text of the results', () => {
  const results: BenchResults = {
    command: 'npm run bench',
    machine: { cores: 2, cpu: 'Some CPU', memoryGb: 8 },
    node: 'v24.0.0',
    commit: 'abc',
    date: '2026-01-02',
    rows: [
      {
        workload: 'json-100k',
        target: 'nginx',
        us: spreadOf([9.96, 12.2, 31.7]),
        ratio: 0.5,
        rounds: 3,
        foreign: 0.084,
      },
    ],
    starts: [],
  };

  it('names the command, the date, the commit and the machine, and has a line for each row', () => {
    expect(benchText(results)).toBe(`\`npm run bench\`, 2026-01-02, commit abc, Node v24.0.0, Some CPU, 2 cores, 8 GB:

| Request | Gateway | CPU µs per request | × bare proxy | Rounds | Other programs |
|---|---|---:|---:|---:|---:|
| 100 KB | nginx | 12 (10–32) | 0.50 | 3 | 8 % |
`);
  });

  it('names the ratio of the two clients before Anthropic', () => {
    const rows = results.rows.map((row) => ({ ...row, toChat: 1.046 }));
    expect(benchText({ ...results, rows })).toContain(
      'A client of Responses ÷ a client of chat completions, both to Anthropic: 1.05 (100 KB).\n',
    );
  });

  it('has the starts of the packed install when they were measured', () => {
    const starts = [{ cache: 'cold', ms: spreadOf([400, 500]), rssMb: spreadOf([90]), rounds: 2 }] as const;
    expect(benchText({ ...results, starts })).toContain('| cold compile cache | 450 (400–500) | 90 (90–90) | 2 |');
  });

  it('is the table of docs/reference/performance.md, and its smallest request that of README', () => {
    // Anew with `node test/bench/table.ts`.
    const page = readFileSync(PAGE, 'utf8');
    const withOthers = withBench(page, benchText(readResults()), moneyText(readMoney()));
    expect(page).toBe(withPlugins(withOthers, readResults(PLUGINS_RESULTS)));
    const readme = readFileSync(README, 'utf8');
    expect(readme).toBe(withBench(readme, shortText(readResults())));
  });
});

describe('the runs', () => {
  it('measure the base of their ratios first, for every workload of another target', () => {
    for (const { targets, base } of Object.values<Run>(RUNS)) {
      expect(Object.keys(targets)[0]).toBe(base);
      const ofBase: readonly string[] = targets[base]!;
      expect(
        Object.values(targets)
          .flat()
          .filter((id) => !ofBase.includes(id)),
      ).toEqual([]);
    }
  });

  it('have limits for rows that they measure', () => {
    for (const { targets, limits = {} } of Object.values<Run>(RUNS))
      for (const [target, byWorkload] of Object.entries(limits))
        expect(targets[target as keyof typeof targets]).toEqual(expect.arrayContaining(Object.keys(byWorkload)));
  });

  it('name a row whose ratio is over its limit', () => {
    const row = {
      workload: 'sse-once',
      target: 'mask',
      us: spreadOf([1]),
      ratio: 1.81,
      rounds: 3,
      foreign: 0,
    } as const;
    expect(overLimits([row, { ...row, ratio: 1.8 }], RUNS.plugins.limits)).toEqual([
      'mask, sse-once: 1.81 is over the limit of 1.8',
    ]);
  });

  it('measure every workload in the whole run, in at least five rounds, and every target there or beside Gatehouse', () => {
    const { targets, rounds } = RUNS.whole;
    const beside = [RUNS.plugins, RUNS.more].flatMap((run) => Object.keys(run.targets));
    const measured = [...Object.keys(targets), ...beside];
    expect(new Set(measured)).toEqual(new Set(Object.keys(TARGETS)));
    expect(targets.bare).toEqual(Object.keys(WORKLOADS));
    expect(rounds).toBeGreaterThanOrEqual(5);
  });
});
