import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, it } from 'vitest';
import { addOns } from '../../src/addons/index.ts';
import { isFull } from '../support/effort.ts';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);

/** The gate tries one add-on, another one after each change of their table and code; the full run tries all. */
function chosen(): readonly string[] {
  const names = addOns.map(({ name }) => name);
  if (isFull('add-ons')) return names;
  const digest = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')));
  for (const file of readdirSync(join(root, 'src/addons'), { recursive: true, encoding: 'utf8' }).toSorted())
    digest.update(file);
  return [names[digest.digest().readUInt32BE() % names.length]!];
}

let copy: string | undefined;
afterEach(() => {
  if (copy) rmSync(copy, { recursive: true, force: true });
});

/** The product's own sources, without tests: those of the core must not need the add-on either, but take minutes. */
const isProduct = (path: string): boolean => !/\.(test|testkit|bench)\.ts$/.test(path);

function without(name: string): string {
  copy = mkdtempSync(join(tmpdir(), 'gatehouse-without-'));
  for (const part of ['src', 'plugins', 'schemas', 'data', 'docs/reference', 'docs/move', 'configs', 'test/core'])
    cpSync(join(root, part), join(copy, part), { recursive: true, filter: isProduct });
  for (const file of ['package.json', 'package-lock.json', 'tsconfig.json']) cpSync(join(root, file), join(copy, file));
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  rmSync(join(copy, 'src/addons', name), { recursive: true });
  rmSync(join(copy, 'schemas/addons', `${name}.json`), { force: true });
  const table = join(copy, 'src/addons/index.ts');
  const lines = readFileSync(table, 'utf8').split('\n');
  const imported = lines.find((line) => line.includes(`'./${name}/index.ts'`))!;
  const [, variable] = /import \{ (\w+) \}/.exec(imported)!;
  writeFileSync(table, lines.filter((line) => line !== imported && line !== `  ${variable},`).join('\n'));
  const config = JSON.parse(readFileSync(join(copy, 'tsconfig.json'), 'utf8')) as object;
  writeFileSync(
    join(copy, 'tsconfig.json'),
    JSON.stringify({ ...config, include: ['src/core', 'src/formats', 'src/plugin', 'src/cli', 'plugins'] }),
  );
  return copy;
}

it.each(chosen())(
  'The product without the add-on %s is generated, compiles and serves a chat',
  { timeout: 300_000 },
  async (name) => {
    const folder = without(name);
    const node = join(root, 'node_modules/.bin/node');
    await run(node, ['schemas/generate.ts'], { cwd: folder });
    await run(join(root, 'node_modules/.bin/tsc'), ['--noEmit'], { cwd: folder }).catch(
      ({ stdout }: { readonly stdout: string }) => expect.fail(stdout),
    );
    const { stdout } = await run(node, ['test/core/serve-once.ts'], { cwd: folder });
    expect(JSON.parse(stdout)).toMatchObject({ status: 200, text: 'Hello.' });
  },
);
