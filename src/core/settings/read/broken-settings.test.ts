import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe as group, expect, test } from 'vitest';
import { checkSettings } from '../../dry-run/check-settings.ts';
import { describe } from '../source/diagnostic.ts';
import { memoryFiles } from '../source/files.ts';
import { loadSettings, type LoadResult } from './load.ts';

/** The default content of files that a case does not name, without mistakes. */
const SOUND = {
  'catalog.yaml': `providers:
  - { slug: sim, provider: simulator }
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

const FOLDER = join(import.meta.dirname, 'goldens');

async function load(files: Readonly<Record<string, string>>): Promise<LoadResult> {
  const texts = Object.entries({ ...SOUND, ...files }).map(([name, text]) => [`configs/${name}`, text]);
  const env = { KEY: 'canary-value', OTHER_KEY: 'canary-other', EMPTY: '' };
  return loadSettings('configs', {
    env,
    now: Date.UTC(2026, 10, 21),
    files: memoryFiles(Object.fromEntries(texts)),
  });
}

const problemsOf = async (files: Readonly<Record<string, string>>): Promise<string> =>
  (await load(files)).diagnostics.map(describe).join('\n');

test('a mistake in keys.yaml does not stop other passes from reporting theirs', async () => {
  const loaded = await load({
    'keys.yaml': 'keys:\n  - { id: a, key: "${env:KEY}", networks: [10.0.0.1/33] }\n',
    'gateway/a.yaml': 'plugins: [no-such-plugin]\nprovider: "@sim"\n',
  });
  await checkSettings(loaded, 'configs');
  expect(loaded.diagnostics.map(describe)).toEqual([
    expect.stringMatching(/^configs\/gateway\/a\.yaml:1:11: .*no-such-plugin/),
    expect.stringContaining('"10.0.0.1/33" is not a network in CIDR notation'),
  ]);
});

test('the files all cases build on have no mistakes', async () => {
  expect(await problemsOf({})).toBe('');
});

for (const name of readdirSync(FOLDER)) {
  const cases = readCases(readFileSync(join(FOLDER, name), 'utf8'));
  group(`mistakes of ${name.replace('.txt', '')} are reported at their positions`, () => {
    test.each(cases)('$title', async ({ files, expected }) => {
      const problems = await problemsOf(files);
      expect(problems).toBe(expected);
      expect(problems).not.toBe('');
      expect(problems).not.toContain('canary');
    });
  });
}

test.each([1_000, 20_000])('nesting %i levels deep is an ordinary diagnostic', async (depth) => {
  const problems = await problemsOf({
    'gateway/a.yaml': `plugins: ${'['.repeat(depth)}\n`,
    'gateway/b.yaml': 'nmae: b\n',
  });
  // The depth at which the stack overflows depends on the engine; below it the parser reports the open brackets.
  expect(problems).toMatch(/^configs\/gateway\/a\.yaml:.*(?:nested too deeply|a bracket that is not closed)$/m);
  expect(problems).toContain('configs/gateway/b.yaml:1:1: unknown key `nmae`; did you mean "name"?');
});

group('the encoding of a file', () => {
  const text = 'name: Röhre\nstratgey:\n  mode: fallback\n';
  const expected = 'configs/gateway/a.yaml:2:1: unknown key `stratgey`; did you mean "strategy"?';

  test.each([
    ['line feeds', text],
    ['carriage returns and line feeds', text.replaceAll('\n', '\r\n')],
    ['a byte order mark', `\uFEFF${text}`],
    ['no end of its last line', text.trimEnd()],
  ])('does not change positions: %s', async (_form, written) => {
    expect(await problemsOf({ 'gateway/a.yaml': written })).toBe(expected);
  });

  test('warns of a parameter that the target of a config leaves out, at its line', async () => {
    const gateway = [
      'provider: "@claude"',
      'override_params:',
      '  model: claude-sonnet-4-5',
      '  max_tokens: 900',
      '  reasoning_effort: low',
      '  seed: 7',
      '  labels: { team: search }',
      '  frobnicate: 1',
    ].join('\n');
    const catalog = 'providers:\n  - { slug: claude, provider: anthropic, api_key: k }\n';
    const problems = await problemsOf({ 'gateway/a.yaml': gateway, 'catalog.yaml': catalog });
    expect(problems.replace(/^configs.catalog.*\n/, '')).toBe(
      'configs/gateway/a.yaml:6:3: warning: `seed` is left out of requests to @claude: Claude has no such setting\n' +
        'configs/gateway/a.yaml:7:3: warning: `labels` is left out of requests to @claude: this target has no cost labels',
    );
  });

  test('warns of a value that no request may have', async () => {
    const of = (params: string) => problemsOf({ 'gateway/a.yaml': `override_params: ${params}\n` });
    expect(await of('{ temperature: hot }')).toMatch(
      /:1:33: warning: requests are refused: `temperature` must be number or null/,
    );
    expect(await of('{ reasoning_effort: huge }')).toContain('requests are refused: `reasoning_effort` must be one of');
    expect(
      await of('{ tool_choice: { type: any }, tools: [], thinking: { budget_tokens: 0 }, stop: END, top_k: 3 }'),
    ).toBe('');
  });

  test.each(['', '\n', '# only a comment\n', '---\n', '\uFEFF'])(
    'may have no content where nothing is required: %j',
    async (written) => {
      expect(await problemsOf({ 'server.yaml': written })).toBe('');
      expect(await problemsOf({ 'gateway/a.yaml': written })).toMatch(/^[^\n]*: warning: this config is empty[^\n]*$/);
    },
  );
});
