import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KINDS } from './kind.ts';
import { filesOf, newPlugin } from './new-plugin.ts';

let dir: string;
const before = process.cwd();
beforeEach(() => process.chdir((dir = mkdtempSync(join(tmpdir(), 'gatehouse-plugin-new-')))));
afterEach(() => {
  process.chdir(before);
  rmSync(dir, { recursive: true, force: true });
});

const write = async (name: string, more: { readonly js?: boolean } = {}) => {
  let text = '';
  const output = { out: (one: string) => void (text += one), err: (one: string) => void (text += one), env: {} };
  const code = await newPlugin({ name, kind: 'middleware', js: false, ...more }, output);
  return { code, text };
};

/** Types leave spaces, and a comma before them. */
const spaceless = (text: string): string => text.replaceAll(/\s+/g, '').replaceAll(',}', '}');

describe('gatehouse plugin new', () => {
  it('writes code, a test, a README and settings, and says what to do next', async () => {
    const { code, text } = await write('own-plugin');
    expect([code, text]).toEqual([0, expect.stringContaining('node --test own-plugin/index.test.ts')]);
    expect(readdirSync('own-plugin', { recursive: true, encoding: 'utf8' }).toSorted()).toEqual([
      'README.md',
      'index.test.ts',
      'index.ts',
      'package.json',
      'settings',
      'settings/catalog.yaml',
      'settings/gateway',
      'settings/gateway/default.test.yaml',
      'settings/gateway/default.yaml',
      'settings/keys.yaml',
      'settings/server.yaml',
    ]);
  });

  it('writes nothing into a folder that is there', async () => {
    await write('own-plugin', { js: true });
    const { code, text } = await write('own-plugin');
    expect([code, text]).toEqual([1, expect.stringContaining('cannot write own-plugin')]);
    expect(readdirSync('own-plugin')).not.toContain('index.ts');
  });

  it.each(KINDS)('writes the same code in both languages, but for types: %s', (kind) => {
    const [ts, js] = [false, true].map((one) => filesOf({ name: 'own-plugin', kind, js: one }));
    for (const file of ['index', 'index.test']) {
      const stripped = stripTypeScriptTypes(ts![`${file}.ts`]!).replaceAll('index.ts', 'index.js');
      expect(spaceless(js![`${file}.js`]!)).toBe(spaceless(stripped));
      // Nothing in it is TypeScript only.
      expect(stripTypeScriptTypes(js![`${file}.js`]!)).toBe(js![`${file}.js`]);
    }
    expect(Object.values(ts!).join('\n')).not.toMatch(/my-plugin|DESCRIPTION|OPTIONS|VERSION|index\S*\.js/);
    expect(JSON.parse(ts!['package.json']!)).toMatchObject({ name: 'own-plugin', exports: './index.ts' });
  });
});
