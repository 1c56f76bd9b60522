import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, globSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { writeSettings } from '../support/gateway.ts';

/** A package of its own: only this test's processes cache in it. */
let root: string;
let cache: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gatehouse-compiled-'));
  cache = join(root, '.cache');
  for (const part of ['package.json', 'src', 'plugins', 'schemas'])
    cpSync(packageFile(part), join(root, part), { recursive: true });
  symlinkSync(packageFile('node_modules'), join(root, 'node_modules'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function schemaOfKeys(env: Readonly<Record<string, string>> = {}) {
  const { NODE_COMPILE_CACHE: _, NODE_DISABLE_COMPILE_CACHE: __, ...rest } = process.env;
  const args = [join(root, 'src/cli/main.ts'), 'schema', 'keys'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env: { ...rest, ...env }, encoding: 'utf8' });
  return { status, stderr, schema: stdout.startsWith('{') };
}

const WELL = { status: 0, stderr: '', schema: true };
const kept = (folder = cache): string[] => globSync('compiled/*/*', { cwd: folder });

describe('the command line', () => {
  it('keeps the code it has compiled, in its package', () => {
    expect(schemaOfKeys()).toEqual(WELL);
    expect(kept().length).toBeGreaterThan(5);
    const first = kept().toSorted();
    expect(schemaOfKeys()).toEqual(WELL);
    expect(kept().toSorted()).toEqual(first);
  });

  it('runs what its files say, not what was kept of them before they changed', () => {
    schemaOfKeys();
    writeFileSync(join(root, 'src/core/commands/schema.ts'), 'export const schemaCommand = (): number => 7;\n');
    expect(schemaOfKeys()).toMatchObject({ status: 7, stderr: '' });
  });

  it('does without what was kept where that is damaged', () => {
    schemaOfKeys();
    for (const file of kept()) writeFileSync(join(cache, file), 'no code');
    expect(schemaOfKeys()).toEqual(WELL);
  });

  it('says nothing where it may keep nothing', () => {
    // No folder can be made in it, not even by root.
    writeFileSync(cache, '');
    expect(schemaOfKeys()).toEqual(WELL);
  });

  it('keeps the code of a gateway when it is stopped, before its drain is over', async () => {
    const settings = writeSettings({ server: { drain: { delay: '60s' } } });
    const { NODE_COMPILE_CACHE: _, NODE_DISABLE_COMPILE_CACHE: __, ...env } = process.env;
    const child = spawn(process.execPath, [join(root, 'src/cli/main.ts'), 'serve', '--configs', settings], { env });
    try {
      await once(child.stderr, 'data');
      expect(kept()).toEqual([]);
      child.kill('SIGTERM');
      await vi.waitFor(() => expect(kept().length).toBeGreaterThan(100), 20_000);
      expect(child.exitCode).toBe(null);
    } finally {
      child.kill('SIGKILL');
      rmSync(settings, { recursive: true, force: true });
    }
  });

  it('leaves it to Node where to keep it, and whether', () => {
    const elsewhere = join(root, 'elsewhere');
    expect(schemaOfKeys({ NODE_COMPILE_CACHE: join(elsewhere, 'compiled') })).toEqual(WELL);
    expect(kept(elsewhere).length).toBeGreaterThan(5);
    expect(schemaOfKeys({ NODE_DISABLE_COMPILE_CACHE: '1' })).toEqual(WELL);
    expect(existsSync(cache)).toBe(false);
  });
});
