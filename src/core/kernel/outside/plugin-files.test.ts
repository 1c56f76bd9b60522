import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readPluginFiles } from './plugin-files.ts';

function write(files: Readonly<Record<string, string>>): string {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-plugin-files-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(dir, name, '..'), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
  return dir;
}
const hash = (dir: string): string => readPluginFiles(join(dir, 'it.mjs')).integrity;

const FILES = {
  'it.mjs': `import { a } from './lib/a.mjs';\nimport './effect.mjs';\nimport 'some-package';\nconst c = await import("./c.mjs");`,
  'lib/a.mjs': `export { b } from '../b.mjs'; export const a = 1;`,
  'b.mjs': `import './it.mjs'; export const b = 1;`,
  'effect.mjs': `const d = require('./d');`,
  'c.mjs': ``,
  'd.js': ``,
  'other.mjs': ``,
};

describe('the files of a plugin', () => {
  it('are its module and what it imports by a path, in every way', () => {
    const dir = write(FILES);
    const { digests } = readPluginFiles(join(dir, 'it.mjs'));
    const names = [...digests.keys()].map((path) => path.split('/').slice(-1)[0]).toSorted();
    expect(names).toEqual(['a.mjs', 'b.mjs', 'c.mjs', 'd.js', 'effect.mjs', 'it.mjs']);
  });

  it('have one hash wherever they lie, which the bytes and names of each file decide', () => {
    const first = hash(write(FILES));
    expect(first).toMatch(/^sha256-[A-Za-z0-9+/]{43}=$/);
    expect(hash(write(FILES))).toBe(first);
    expect(hash(write({ ...FILES, 'other.mjs': 'changed' }))).toBe(first);
    for (const name of ['it.mjs', 'lib/a.mjs', 'd.js'] as const)
      expect(hash(write({ ...FILES, [name]: `${FILES[name]}\n` })), name).not.toBe(first);
  });

  it('may lack one that an import names: the import reports it', () => {
    const dir = write({ 'it.mjs': `import './gone.mjs';` });
    expect(readPluginFiles(join(dir, 'it.mjs')).digests.size).toBe(1);
    expect(() => readPluginFiles(join(dir, 'gone.mjs'))).toThrow('ENOENT');
  });

  it('are at most 1,000', () => {
    const many = Object.fromEntries(
      Array.from({ length: 1001 }, (_, index) => [`f${index}.mjs`, `import './f${index + 1}.mjs';`]),
    );
    const dir = write(many);
    expect(() => readPluginFiles(join(dir, 'f0.mjs'))).toThrow('more than 1000 files');
  });
});
