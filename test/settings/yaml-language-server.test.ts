import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { LanguageServer } from './language-server.testkit.ts';

const root = packageFile('configs');
/** Those of observability/ are files of other programs. */
const samples = globSync('**/*.yaml', { cwd: root, exclude: ['observability'] }).sort();

let server: LanguageServer;
beforeAll(async () => {
  server = new LanguageServer();
  await server.start();
});
afterAll(() => server.stop());

describe('an editor with a YAML language server', () => {
  test('gets the schema of every sample from its first line', () => {
    expect(samples.length).toBeGreaterThanOrEqual(4);
    for (const name of samples)
      expect(readFileSync(join(root, name), 'utf8')).toMatch(/^# yaml-language-server: \$schema=\S+\n/);
  });

  test.each(samples)('accepts %s', async (name) => {
    expect(await server.check(join(root, name), readFileSync(join(root, name), 'utf8'))).toEqual([]);
  });

  test.each(samples)('underlines a misspelt key in %s', async (name) => {
    const lines = readFileSync(join(root, name), 'utf8').trimEnd().split('\n');
    const text = [...lines, 'stratgey: 1', ''].join('\n');
    expect(await server.check(join(root, name), text)).toEqual([
      `${lines.length + 1}: Property stratgey is not allowed.`,
    ]);
  });

  test('underlines a key that is missing and a value that is not allowed', async () => {
    const text = (modeline: string, rest: string) => `# yaml-language-server: $schema=../schemas/${modeline}\n${rest}`;
    const check = (rest: string) => server.check(join(root, 'catalog.yaml'), text('catalog.json', rest));
    expect(await check('providers:\n  - slug: a\n    provider: anthropic\n')).toEqual([
      expect.stringMatching(/^3: .*"api_key"/),
    ]);
    expect(await check('providers:\n  - slug: a\n    provider: antropic\n')).not.toEqual([]);
  });
});
