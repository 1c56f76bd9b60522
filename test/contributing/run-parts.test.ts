import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { packageFile } from '../../src/package-root.ts';

/** Runs the parts of a package.json of its own. */
function start(scripts: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-parts-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts }));
  const child = spawn(process.execPath, [packageFile('build/run-parts.ts'), ...Object.keys(scripts)], { cwd: folder });
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
