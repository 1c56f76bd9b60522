import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { addOns } from '../../src/addons/index.ts';
import { copyRepository, run } from '../contributing/copy.ts';
import { commit, isFull } from '../support/effort.ts';

const isWhole = isFull('add-ons');

/** The gate tries one add-on, another one for each commit; the full run tries all. */
function chosen(): readonly string[] {
  const names = addOns.map(({ name }) => name);
  if (isWhole) return names;
  // A tree without git is tried without the first.
  return [names[(parseInt(commit().slice(0, 8), 16) || 0) % names.length]!];
}

/**
 * Nothing in them can tell which add-ons there are: formats and the plugin API import nothing of the core, and neither these rooms nor their
 * tests import a table to which an add-on adds rows. Only the full run tests them for each add-on; the gate has tested them in the whole tree.
 */
const WITHOUT_TABLES = ['src/formats/**', 'src/plugin/**', 'src/core/{kernel,memory,record,tenants,upstream}/**'];

let copy: string | undefined;
afterEach(() => {
  if (copy) rmSync(copy, { recursive: true, force: true });
});

function without(name: string): string {
  copy = copyRepository();
  rmSync(join(copy, 'src/addons', name), { recursive: true });
  rmSync(join(copy, 'schemas/addons', `${name}.json`), { force: true });
  const table = join(copy, 'src/addons/index.ts');
  const lines = readFileSync(table, 'utf8').split('\n');
  const imported = lines.find((line) => line.includes(`'./${name}/index.ts'`))!;
  const [, variable] = /import \{ (\w+) \}/.exec(imported)!;
  writeFileSync(table, lines.filter((line) => line !== imported && line !== `  ${variable},`).join('\n'));
  const config = JSON.parse(readFileSync(join(copy, 'tsconfig.json'), 'utf8')) as object;
  const include = ['src/core', 'src/formats', 'src/plugin', 'src/cli', 'plugins', 'test/core/serve-once.ts'];
  writeFileSync(join(copy, 'tsconfig.json'), JSON.stringify({ ...config, include }));
  return copy;
}

async function outputOf(folder: string, command: string, args: readonly string[]): Promise<string> {
  const { code, output } = await run(folder, command, args);
  return code === 0 ? output : expect.fail(output);
}

it.each(chosen())(
  'Without the add-on %s the product is generated, compiles, serves a chat and passes the tests of the core',
  { timeout: 1_200_000 },
  async (name) => {
    const folder = without(name);
    await outputOf(folder, process.execPath, ['schemas/generate.ts']);
    await outputOf(folder, 'tsc', ['--noEmit']);
    const served = await outputOf(folder, process.execPath, ['test/core/serve-once.ts']);
    expect(JSON.parse(served)).toMatchObject({ status: 200, text: 'Hello.' });
    const untested = ['src/addons/**', ...(isWhole ? [] : WITHOUT_TABLES)].flatMap((path) => ['--exclude', path]);
    // Properties have been tried in full in the whole tree. Without the variable no test file is left out.
    await outputOf(folder, 'env', ['-u', 'TEST_FULL', 'vitest', 'run', '--project', 'unit', ...untested]);
  },
);
