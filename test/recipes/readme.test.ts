import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { recipeIds } from './recipes.ts';
import { README, regenerate, shortened } from './write-readme.ts';

const readme = readFileSync(README, 'utf8');

describe('configs/recipes/README.md', () => {
  it('shows the output of explain for each recipe', async () => {
    // To regenerate: `node test/recipes/write-readme.ts`.
    expect(await regenerate(readme)).toBe(readme);
  });

  it('has commands that print in a shell the output below them', async () => {
    const shown = [...readme.matchAll(/^```sh\n(echo .*)\n```\n\n<details>.*\n\n```text\n([\s\S]*?)^```/gm)];
    expect(shown).toHaveLength(recipeIds.length);
    // One command, with nested quotes, represents all: a process takes a second.
    const [, command = '', said] = shown.find(([, line]) => line?.includes('x-gateway-metadata'))!;
    const here = command.replace('npm run -s gatehouse --', `'${process.execPath}' src/cli/main.ts`);
    const { stdout } = await promisify(execFile)('bash', ['-c', here], { cwd: packageFile(''), env: {} });
    expect(shortened(stdout)).toBe(said);
  });

  it('has a row for every recipe, with links to its file and its tests', () => {
    const rows = [...readme.matchAll(/^\| \[.+\]\(#.+\) \| .+ \| \[config\]\((.+)\), \[tests\]\((.+)\) \|$/gm)];
    const files = recipeIds.map((id) => [`gateway/${id}.yaml`, `gateway/${id}.test.yaml`]);
    expect(rows.map(([, config, tests]) => [config, tests]).toSorted()).toEqual(files);
  });

  it('contains no path of the machine that generated it, and no credential', () => {
    expect(readme).not.toMatch(/(?:^|[\s"'(])\/(?:home|root|tmp|work|Users)\//m);
    expect(readme).toContain('authorization: Bearer [secret]');
  });
});
