import { describe as group, expect, test } from 'vitest';
import { describe } from '../../core/settings/source/diagnostic.ts';
import { loadSettings } from '../../core/settings/read/load.ts';
import { readTests } from './read-tests.ts';
import { folderWith, oneCase } from './tests.testkit.ts';
import { validateTests } from './check-tests.ts';

/** Everything that `gatehouse validate` reports for the folder. */
async function problemsOf(texts: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const files = folderWith(texts);
  const loaded = await loadSettings('configs', { env: { TEAM_KEY: 'canary-key' }, files });
  expect(loaded.settings).toBeDefined();
  await validateTests(loaded.settings!, loaded, files);
  return loaded.diagnostics.map(describe);
}

const prod = (text: string): Promise<readonly string[]> => problemsOf({ 'gateway/prod.test.yaml': text });

group('files of tests', () => {
  test('are found next to the gateway configs and above them', async () => {
    const text = `cases:\n${oneCase('a')}`;
    const { files, paths } = await readTests(
      'configs',
      folderWith({ 'gateway/prod.test.yaml': text, 'all.test.yaml': text, 'gateway/.hidden.test.yaml': text }),
    );
    expect(paths).toEqual(['configs/all.test.yaml', 'configs/gateway/prod.test.yaml']);
    expect(files.map(({ path, id }) => [path, id])).toEqual([
      ['configs/all.test.yaml', 'all'],
      ['configs/gateway/prod.test.yaml', 'prod'],
    ]);
  });

  test('are not gateway configs, and cause no warning', async () => {
    const files = folderWith({ 'gateway/prod.test.yaml': 'cases: 1\n', 'all.test.yaml': 'cases: 1\n' });
    const { settings, diagnostics } = await loadSettings('configs', { env: { TEAM_KEY: 'canary-key' }, files });
    expect([[...settings!.gateway.keys()], diagnostics]).toEqual([['prod'], []]);
  });

  test('do not change the hash of the settings', async () => {
    const hashOf = async (texts: Readonly<Record<string, string>>) =>
      (await loadSettings('configs', { env: { TEAM_KEY: 'canary-key' }, files: folderWith(texts) })).settings?.hash;
    expect(await hashOf({ 'gateway/prod.test.yaml': 'cases: 1\n' })).toBe(await hashOf({}));
  });

  test('name the config of their cases, unless a case names one', async () => {
    const text = `cases:\n${oneCase('a')}${oneCase('b', 'config: none\n    expect: { status: 200 }')}${oneCase('c', 'config: canary\n    expect: { status: 200 }')}`;
    const { files } = await readTests('configs', folderWith({ 'gateway/prod.test.yaml': text }));
    expect(files[0]?.cases.map(({ configId }) => configId)).toEqual(['prod', undefined, 'canary']);
  });

  test('are read literally: `${…}` is not a reference', async () => {
    const text = `cases:\n${oneCase('a', 'expect: { body: { "${a}": "${env:TEAM_KEY} ${b" } }')}`;
    const { files, diagnostics } = await readTests('configs', folderWith({ 'gateway/prod.test.yaml': text }));
    expect(diagnostics).toEqual([]);
    expect(files[0]?.cases[0]?.expect.body).toEqual({ '${a}': '${env:TEAM_KEY} ${b' });
  });

  test('may name every counter without a warning of a key in clear text', async () => {
    const name = 'gatehouse_circuit_breaker_transitions_total';
    const metric = `expect: { metrics: [{ name: ${name}, labels: { to: open } }], headers: { x: ${name} } }`;
    expect(await prod(`cases:\n${oneCase('a', metric)}`)).toEqual([
      expect.stringMatching(/:4:117: warning: this looks like a secret/),
    ]);
  });

  test('know the position of every value', async () => {
    const text = `cases:\n${oneCase('a', 'expect: { body: { a: [1, 2] } }')}`;
    const { files } = await readTests('configs', folderWith({ 'gateway/prod.test.yaml': text }));
    expect(files[0]?.placeOf(['cases', 0, 'expect', 'body', 'a', 1])).toEqual({
      file: 'configs/gateway/prod.test.yaml',
      line: 4,
      column: 30,
    });
  });
});

group('errors in tests are reported at their places', () => {
  test.each<[string, string, string]>([
    [
      'a misspelt key',
      'cases:\n  - { nmae: a, request: {}, expect: { status: 200 } }\n',
      '2:7: unknown key `nmae`, and `name` is missing; did you mean "name"?',
    ],
    [
      'a case that expects nothing',
      'cases:\n  - { name: a, request: {}, expect: {} }\n',
      '2:37: `expect` must not be empty; an example is `{ target: "@vertex", status: 200 }`',
    ],
    [
      'a number for a header',
      `cases:\n${oneCase('a', 'headers: { x: 1 }\n    expect: { status: 200 }')}`,
      '4:19: `x` must be text, not 1: put it in quotes',
    ],
    [
      'an unknown fault',
      `cases:\n${oneCase('a', 'upstream: [{ fault: timeout }]\n    expect: { status: 200 }')}`,
      '4:25: `fault` must be refuse, reset, hang, cut or garbage, not "timeout"',
    ],
    ['a syntax error', 'cases: [\n', '2:1: wrong indentation, or a bracket that is not closed'],
    [
      'an unknown config',
      `cases:\n${oneCase('a', 'config: prdo\n    expect: { status: 200 }')}`,
      '4:13: there is no gateway/prdo.yaml; did you mean "prod"?',
    ],
    [
      'an unknown key',
      `cases:\n${oneCase('a', 'key: tam\n    expect: { status: 200 }')}`,
      '4:10: there is no key with the id `tam`; did you mean "team"?',
    ],
    [
      'an unknown target',
      `cases:\n${oneCase('a', 'expect: { target: frist }')}`,
      '4:23: there is no target `frist` in the config; did you mean "first"?',
    ],
    [
      'a group in place of a target',
      `cases:\n${oneCase('a', 'expect: { target: "config.targets[1]" }')}`,
      '4:23: there is no target `config.targets[1]` in the config; did you mean "config.targets[0]"?',
    ],
    [
      'an unknown catalog entry',
      `cases:\n${oneCase('a', 'expect: { attempts: [first, "@smi"] }')}`,
      '4:33: there is no catalog entry @smi; did you mean "@sim"?',
    ],
    [
      'a target without a config',
      `cases:\n${oneCase('a', 'config: none\n    expect: { target: "@smi" }')}`,
      '5:23: there is no catalog entry @smi; did you mean "@sim"?',
    ],
    [
      'a config in a header besides `config`',
      `cases:\n${oneCase('a', 'headers: { X-Gateway-Config: prod }\n    expect: { status: 200 }')}`,
      '4:16: choose the config with `config: NAME`; for a config in a header use `config: none`',
    ],
    [
      'two answers in one',
      `cases:\n${oneCase('a', 'upstream: [{ answer: a, body: b }]\n    expect: { status: 200 }')}`,
      '4:29: give only one of `answer`, `body` or `stream`',
    ],
    [
      'an answer that cannot be sent',
      `cases:\n${oneCase('a', 'upstream: [{ fault: refuse, status: 503 }]\n    expect: { status: 200 }')}`,
      '4:33: `status` is never sent with `fault: refuse`',
    ],
    [
      'an unknown counter, which would never be incremented',
      `cases:\n${oneCase('a', 'expect: { metrics: [{ name: gatehouse_fallback_total, value: 0 }] }')}`,
      '4:33: there is no counter `gatehouse_fallback_total`; did you mean "gatehouse_fallbacks_total"?',
    ],
    [
      'a label that the counter lacks',
      `cases:\n${oneCase('a', 'expect: { metrics: [{ name: gatehouse_fallbacks_total, labels: { reson: x }, value: 0 }] }')}`,
      '4:70: `gatehouse_fallbacks_total` has no label `reson`; did you mean "reason"?',
    ],
    [
      'a metric that is not a counter',
      `cases:\n${oneCase('a', 'expect: { metrics: [{ name: gatehouse_requests_in_flight }] }')}`,
      '4:33: `gatehouse_requests_in_flight` is a gauge: only counters can be expected',
    ],
    [
      'headers that are not compared',
      `cases:\n${oneCase('a', 'expect: { headers: {} }')}`,
      '4:24: `headers` must not be empty; an example is `{ x-gateway-provider: vertex }`',
    ],
    [
      'a duplicate name',
      `cases:\n${oneCase('a')}${oneCase('a')}`,
      '5:11: warning: there are two cases with the name "a"',
    ],
    [
      'a secret',
      `cases:\n${oneCase('a', 'headers: { x: sk-abcdefghijkl }\n    expect: { status: 200 }')}`,
      '4:19: warning: this looks like a secret in clear text; a test does not need a real one',
    ],
  ])('%s', async (_, text, reported) => {
    expect(await prod(text)).toEqual([`configs/gateway/prod.test.yaml:${reported}`]);
  });

  test('accepts names of nested targets, their paths and slugs', async () => {
    const rest = 'expect: { attempts: [first, inner, "config.targets[0]", "config.targets[1].targets[0]", "@sim"] }';
    expect(await prod(`cases:\n${oneCase('a', rest)}`)).toEqual([]);
  });

  test('a file without its config, once', async () => {
    const problems = await problemsOf({ 'gateway/prd.test.yaml': `cases:\n${oneCase('a')}${oneCase('b')}` });
    expect(problems).toEqual([
      'configs/gateway/prd.test.yaml:2:11: there is no gateway/prd.yaml for these tests; give each case a `config` (`none`: the request names none); did you mean "prod"?',
    ]);
  });
});

group('a gateway config whose id would end in .test', () => {
  test('is reported once', async () => {
    const text = 'strategy: { mode: fallback }\ntargets: [{ provider: "@sim" }]\n';
    expect(await problemsOf({ 'gateway/prod.test.yaml': text })).toEqual([
      'configs/gateway/prod.test.yaml:1:1: a file that ends in .test.yaml must contain tests: a gateway config cannot have the id `prod.test`; give this file another name',
    ]);
  });

  test.each([
    [
      'gateway/prod.Test.yaml',
      'the id of a gateway config must not end in `.test`; test files end in .test.yaml, in lower case',
    ],
    ['gateway/prod.test.yml', 'warning: this file is ignored; test files end in .test.yaml'],
  ])('is not a config as %s either', async (name, reported) => {
    const files = folderWith({ [name]: 'provider: "@sim"\n' });
    const { diagnostics } = await loadSettings('configs', { env: { TEAM_KEY: 'canary-key' }, files });
    expect(diagnostics.map(describe)).toEqual([`configs/${name}:1:1: ${reported}`]);
  });

  test('cannot be the default', async () => {
    const problems = await problemsOf({ 'server.yaml': 'default_config: prod.test\n' });
    expect(problems).toEqual([
      'configs/server.yaml:1:17: there is no gateway config `prod.test`: gateway/prod.test.yaml is a test file',
    ]);
  });
});
