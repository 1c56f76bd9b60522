import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe as group, expect, test } from 'vitest';
import { providerNames } from '../../providers/index.ts';
import { describe } from '../source/diagnostic.ts';
import { memoryFiles } from '../source/files.ts';
import { alternatives } from '../values/show.ts';
import { loadSettings, type LoadResult } from './load.ts';

/** The default content of files that a case does not name, without mistakes. */
const SOUND = {
  'catalog.yaml': `providers:
  - { slug: sim, provider: openai, base_url: "https://sim.example/v1" }
  - { slug: vertex-prod, provider: vertex-ai, region: us-central1, project_id: my-project }
`,
  'keys.yaml':
    'keys: [{ id: own, digest: "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb" }]\n',
};

interface Case {
  readonly title: string;
  readonly files: Readonly<Record<string, string>>;
  readonly expected: string;
}

/** `=== title`, then `--- name` before each file's text, the last of them `--- expected`. */
function readCases(text: string): Case[] {
  return text
    .split(/^=== /m)
    .slice(1)
    .map((block) => {
      const [title = '', ...parts] = block.split(/^--- /m);
      const files = Object.fromEntries(
        parts.map((part) => [part.slice(0, part.indexOf('\n')), part.slice(part.indexOf('\n') + 1)]),
      );
      const { expected = '', ...texts } = files;
      return { title: title.trim(), files: texts, expected: expected.trim() };
    });
}

export async function loadFiles(files: Readonly<Record<string, string>>): Promise<LoadResult> {
  const texts = Object.entries({ ...SOUND, ...files }).map(([name, text]) => [`configs/${name}`, text]);
  const env = { KEY: 'canary-value', OTHER_KEY: 'canary-other', EMPTY: '' };
  return loadSettings('configs', {
    env,
    // Before any model of the cases retires.
    now: Date.UTC(2024, 10, 21),
    files: memoryFiles(Object.fromEntries(texts)),
  });
}

export const problemsOf = async (files: Readonly<Record<string, string>>): Promise<string> =>
  (await loadFiles(files)).diagnostics.map(describe).join('\n');

/** Tests the cases of the files in `folder`: those of an add-on are beside its settings. */
export function testBrokenSettings(folder: string): void {
  // A build with other add-ons has other providers.
  const known = alternatives(providerNames());
  for (const name of readdirSync(folder)) {
    const cases = readCases(readFileSync(join(folder, name), 'utf8').replaceAll('<providers>', known));
    group(`mistakes of ${name.replace('.txt', '')} are reported at their positions`, () => {
      test.each(cases)('$title', async ({ files, expected }) => {
        const problems = await problemsOf(files);
        expect(problems).toBe(expected);
        expect(problems).not.toBe('');
        expect(problems).not.toContain('canary');
      });
    });
  }
}
