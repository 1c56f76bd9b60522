import { join } from 'node:path';
import { describe as group, expect, test } from 'vitest';
import { checkSettings } from '../../dry-run/check-settings.ts';
import { describe } from '../source/diagnostic.ts';
import { loadFiles, problemsOf, testBrokenSettings } from './broken-settings.testkit.ts';

test('a mistake in keys.yaml does not stop other passes from reporting theirs', async () => {
  const loaded = await loadFiles({
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

testBrokenSettings(join(import.meta.dirname, 'goldens'));

test('hosts for callers are checked, also in a build that knows no prices of them', async () => {
  const problems = await problemsOf({
    'gateway/a.yaml': 'custom_hosts: { hosts: ["*"], allow_insecure: true }\n',
    'gateway/b.yaml': 'custom_hosts: { hosts: [10.0.0.1, "a.example.com:99999", metadata.google.internal] }\n',
  });
  for (const problem of [
    'a.yaml:1:25: warning: with `allow_insecure`, callers can make the gateway call every host of your network',
    'b.yaml:1:25: warning: 10.0.0.1 is a loopback or private address, which is refused without `allow_insecure: true`',
    'b.yaml:1:35: 99999 is not a port: ports range from 1 to 65535',
    'b.yaml:1:58: warning: metadata.google.internal is a metadata server, which the gateway never calls',
  ])
    expect(problems).toContain(problem);
});

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
