import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { fences, readPage } from '../docs/pages.ts';

const run = promisify(execFile);
const page = readPage('docs/operate/effect.md');
const [folders = '', requests = '', inCi = ''] = fences(page, 'sh');

let work: string;
beforeAll(() => {
  work = mkdtempSync(join(tmpdir(), 'gatehouse-effect-'));
  cpSync(packageFile('configs'), join(work, 'configs'), { recursive: true });
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** Runs lines of the page. The last command's exit code is in `code`. */
async function lines(code: string, env: NodeJS.ProcessEnv = {}) {
  const program = `'${process.execPath}' '${packageFile('src/cli/main.ts')}'`;
  const options = { cwd: work, env: { ...process.env, ...env } };
  return run('bash', ['-c', code.replaceAll('npx gatehouse', program)], options).then(
    ({ stdout }) => ({ code: 0, stdout }),
    (error: { code: number; stdout: string }) => ({ code: error.code, stdout: error.stdout }),
  );
}

it('shows what moves between two folders', async () => {
  const { code, stdout } = await lines(folders);
  const [shown = ''] = fences(page, 'text');
  expect(code).toBe(1);
  for (const line of shown.split('\n').filter((one) => one !== '…' && one !== '')) expect(stdout).toContain(line);
});

it('takes the questions of a file', async () => {
  const { code, stdout } = await lines(requests);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^\*\*1 of 1 requests move, 0 do not\*\*\n\n\| Requests \| Before \|/);
  expect(stdout).toContain('`requests.jsonl:1`');
});

it('has a step for CI that writes the comment, and passes a change', async () => {
  const git = (...args: readonly string[]) =>
    run('git', ['-c', 'user.name=test', '-c', 'user.email=test@localhost', ...args], { cwd: work });
  await git('init', '--quiet');
  writeFileSync(join(work, '.gitignore'), 'new-configs\n');
  await git('add', 'configs', '.gitignore');
  await git('commit', '--quiet', '--message', 'base');
  const { stdout: base } = await git('rev-parse', 'HEAD');
  writeFileSync(
    join(work, 'configs/gateway/fallback-example.yaml'),
    'provider: "@simulator"\noverride_params: { model: sim-steady }\n',
  );
  expect(await lines(inCi, { BASE: base.trim() })).toMatchObject({ code: 0 });
  expect(readFileSync(join(work, 'effect.md'), 'utf8')).toContain(
    '`@simulator/sim-steady` (`gateway/fallback-example.yaml:1:1`)',
  );
  writeFileSync(join(work, 'configs/gateway/fallback-example.yaml'), 'targets: []\n');
  expect((await lines(`set -e\n${inCi}`, { BASE: base.trim() })).code).not.toBe(0);
});
