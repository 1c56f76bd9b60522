import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateConsoleTypes } from '../../build/console-types.ts';

const root = join(import.meta.dirname, '../..');
const top = mkdtempSync(join(tmpdir(), 'gatehouse-console-'));
const [one, other] = [join(top, 'one'), join(top, 'other')];

const build = (folder: string): Buffer =>
  execFileSync(process.execPath, [join(root, 'build/console.ts'), folder], { cwd: root });
const filesOf = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder)
      .toSorted()
      .map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );

describe('the built console', () => {
  let files: Record<string, string>;
  const kilobytes = (...names: readonly string[]): number =>
    names.reduce((sum, name) => sum + gzipSync(files[name] ?? '', { level: 9 }).length, 0) / 1024;
  /** The files that an address loads at once: the page, its style and icon, and the modules that its entry imports statically. */
  const firstLoad = (): string[] => {
    const page = files['index.html'] ?? '';
    const named = [...page.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, name = '']) => name);
    const reached = new Set(named);
    for (const name of reached)
      for (const [, found = ''] of (files[name] ?? '').matchAll(/(?:from|import)\s*["']\.\/([^"']+)["']/g))
        reached.add(found);
    return ['index.html', ...reached];
  };

  beforeAll(() => {
    build(one);
    build(other);
    files = filesOf(one);
  });
  afterAll(() => rmSync(top, { recursive: true, force: true }));

  it('is the same after another build of the same sources', () => expect(filesOf(other)).toEqual(files));

  it('loads at most 60 KB first, 25 for charts, 145 for the editor, 300 in all', () => {
    const names = Object.keys(files).filter((name) => name !== 'licenses.txt');
    const charts = names.filter((name) => /^uPlot/i.test(name));
    const editor = names.filter((name) => name.startsWith('editor-'));
    expect([charts.length, editor.length]).toEqual([1, 1]);
    expect(firstLoad().every((name) => name in files)).toBe(true);
    expect(kilobytes(...firstLoad())).toBeLessThanOrEqual(60);
    expect(kilobytes(...charts)).toBeLessThanOrEqual(25);
    expect(kilobytes(...editor)).toBeLessThanOrEqual(145);
    expect(kilobytes(...names)).toBeLessThanOrEqual(300);
    for (const late of [...charts, ...editor]) expect(firstLoad()).not.toContain(late);
  });

  it('names all files but its page by their content, and refers to them without a leading slash', () => {
    for (const name of Object.keys(files))
      expect(name).toMatch(/^(?:index\.html|licenses\.txt|[\w.-]+-[\w-]{8}\.(?:js|css|svg))$/);
    expect(files['index.html']).not.toMatch(/(?:href|src)="(?:\/|https?:)/);
  });

  it('writes no HTML: no innerHTML of its own, no evaluated text', () => {
    for (const file of readdirSync(join(root, 'src/addons/console/ui'), { recursive: true, encoding: 'utf8' }).filter(
      (name) => /\.tsx?$/.test(name),
    ))
      expect(readFileSync(join(root, 'src/addons/console/ui', file), 'utf8')).not.toMatch(
        /innerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/,
      );
  });

  it('has the licences of the packages in it', () => {
    for (const name of [
      'preact',
      'uplot',
      'marked',
      'openapi-fetch',
      '@tanstack/virtual-core',
      '@codemirror/view',
      '@lezer/common',
      '@lezer/yaml',
    ])
      expect(files['licenses.txt']).toMatch(new RegExp(`^${name} \\d`, 'm'));
  });
});

it('the types of the console are those of the document that the gateway serves', async () => {
  const written = readFileSync(join(root, 'src/addons/console/ui/api/types.generated.ts'), 'utf8');
  expect(await generateConsoleTypes()).toBe(written);
});
