import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { packageFile } from '../../src/core/kernel/package-root.ts';

interface Settings {
  readonly flags?: readonly string[];
  readonly folder?: string;
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-parts-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Runs the parts of a package.json of its own. */
function start(scripts: Readonly<Record<string, string>>, { flags = [], folder = newFolder() }: Settings = {}) {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts }));
  const { TEST_FULL: _, ...env } = process.env;
  const args = [packageFile('build/run-parts.ts'), ...flags, ...Object.keys(scripts)];
  const child = spawn(process.execPath, args, { cwd: folder, env });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, text }));
  return { folder, child, ended };
}

/** The report at the end, without the times. */
const reportOf = (text: string): readonly string[] =>
  text
    .trimEnd()
    .slice(text.lastIndexOf('\n\n') + 2)
    .split('\n')
    // The last line has the sums.
    .slice(0, -1)
    .map((line) => line.replace(/, \d+ s$/, ''));

it('A part that fails hides no later one, and the report names each', async () => {
  const { code, text } = await start({ first: 'exit 3', second: 'echo later', third: 'exit 4' }).ended;
  expect(text).toContain('\nlater\n');
  expect(code).toBe(1);
  expect(reportOf(text)).toEqual(['first   failed (exit 3)', 'second  passed', 'third   failed (exit 4)']);
});

it('A run whose parts pass ends with 0', async () => {
  const { code, text } = await start({ first: 'true', second: 'true' }).ended;
  expect([code, reportOf(text)]).toEqual([0, ['first   passed', 'second  passed']]);
});

it('The end of a run names each test that failed, with the first line of its error', async () => {
  const folder = newFolder();
  const report = JSON.stringify({
    testResults: [
      { name: join(folder, 'test/a.test.ts'), status: 'passed' },
      {
        name: join(folder, 'test/b.test.ts'),
        status: 'failed',
        assertionResults: [
          { fullName: 'A door opens', status: 'passed' },
          {
            fullName: 'A door closes',
            status: 'failed',
            failureMessages: ['AssertionError: open\n    at b.test.ts:1'],
          },
        ],
      },
      {
        name: join(folder, 'test/c.test.ts'),
        status: 'failed',
        message: 'It does not load\nat all',
        assertionResults: [],
      },
    ],
  });
  writeFileSync(join(folder, 'report.json'), report);
  const { code, text } = await start({ first: 'cp report.json $TEST_REPORT; false', second: 'true' }, { folder }).ended;
  expect(code).toBe(1);
  expect(text).toContain('\nfailed: test/b.test.ts\n  A door closes: AssertionError: open\n');
  expect(text).toContain('\nfailed: test/c.test.ts\n  It does not load\n');
  expect(reportOf(text)).toEqual(['first   failed (exit 1)', 'second  passed']);
});

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)(
  '%s ends the part that runs, with the processes that it has started, and begins no other',
  async (signal, status) => {
    const { folder, child, ended } = start({ first: 'sleep 600 & touch started; wait', second: 'touch second' });
    await vi.waitFor(() => expect(existsSync(join(folder, 'started'))).toBe(true), { timeout: 60_000 });
    child.kill(signal);
    // The output ends when the last process that can write to it has ended.
    const { code, text } = await ended;
    expect([code, reportOf(text)]).toEqual([status, ['first   stopped', 'second  not run']]);
    expect(existsSync(join(folder, 'second'))).toBe(false);
  },
);

describe('a long suite', () => {
  const scripts = { crossing: 'echo "TEST_FULL=$TEST_FULL"', growth: 'echo grown' };
  const watched = (folder: string): string => join(folder, 'src/formats/a.ts');

  /** A folder whose full run has passed. */
  async function tested(): Promise<string> {
    const folder = newFolder();
    mkdirSync(join(folder, 'src/formats'), { recursive: true });
    mkdirSync(join(folder, 'test'));
    writeFileSync(watched(folder), 'one');
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@t.example', ...args], { cwd: folder });
    git('init', '-q');
    git('commit', '-q', '--allow-empty', '-m', 'one');
    const { code, text } = await start(scripts, { folder, flags: ['--full'] }).ended;
    expect([code, text]).toEqual([0, expect.stringContaining('TEST_FULL=1\n')]);
    return folder;
  }

  it('does not run again while the files that it watches are those of its last pass', async () => {
    const folder = await tested();
    const { text } = await start(scripts, { folder }).ended;
    // Neither the site nor the agents nor the unit tests were among its parts.
    expect(text).toContain('TEST_FULL=docs:build,agents,formats\n');
    expect(reportOf(text)).toEqual(['crossing  passed', 'growth    not due: its files are those of test/full.json']);
  });

  it('runs again when one of them has changed', async () => {
    const folder = await tested();
    writeFileSync(watched(folder), 'two');
    const { text } = await start(scripts, { folder }).ended;
    expect(text).toMatch(/TEST_FULL=growth,.*faults/);
    expect(reportOf(text)).toEqual(['crossing  passed', 'growth    passed']);
  });

  it('has no result if it failed, whatever else passed', async () => {
    const folder = await tested();
    writeFileSync(watched(folder), 'two');
    const failing = { ...scripts, growth: 'false' };
    expect((await start(failing, { folder, flags: ['--full'] }).ended).code).toBe(1);
    const { text } = await start(scripts, { folder }).ended;
    expect(text).toContain('TEST_FULL=growth,docs:build,agents,formats\n');
    expect(reportOf(text)).toContain('growth    passed');
  });

  it('keeps its result where a test file failed that only another watches', async () => {
    const folder = await tested();
    writeFileSync(watched(folder), 'two');
    const report = JSON.stringify({
      testResults: [
        { name: join(folder, 'test/faults/a.test.ts'), status: 'failed' },
        { name: join(folder, 'test/http/b.test.ts'), status: 'passed' },
      ],
    });
    const failing = { ...scripts, crossing: `echo '${report}' > $TEST_REPORT; false` };
    expect((await start(failing, { folder, flags: ['--full'] }).ended).code).toBe(1);
    const { text } = await start(scripts, { folder }).ended;
    // The clients run against the kit of the faults.
    expect(text).toContain('TEST_FULL=docs:build,agents,faults,clients,formats\n');
  });

  it.each([
    [3, 0, 'agents  cannot run on this machine'],
    [4, 1, 'agents  failed (exit 4)'],
  ])('that needs what a machine lacks is no failure: exit code %d', async (exit, code, line) => {
    const ended = await start({ agents: `exit ${exit}` }).ended;
    expect([ended.code, reportOf(ended.text)]).toEqual([code, [line]]);
  });
});
