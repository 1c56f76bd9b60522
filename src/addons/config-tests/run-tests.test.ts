import { describe, expect, test } from 'vitest';
import { describe as textOf, SettingsRefused } from '../../core/settings/source/diagnostic.ts';
import { headOf, hasFailed, type CaseResult, type TestsEnd, placeOf } from './results.ts';
import { runTests, type TestRun } from './run-tests.ts';
import type { RunnerSetup } from './runner.ts';
import { folderWith, oneCase, outcome } from './tests.testkit.ts';

const THREE = `cases:\n${oneCase('one')}${oneCase('two', 'expect: { status: 201 }')}${oneCase('three')}`;

async function run(texts: Readonly<Record<string, string>>, options: Partial<TestRun> = {}) {
  const results: CaseResult[] = [];
  const warnings: string[] = [];
  let now = 0;
  const end: TestsEnd = await runTests({
    folder: 'configs',
    files: folderWith(texts),
    clock: { now: () => (now += 5) },
    runCase: () => Promise.resolve([outcome(200)]),
    bail: false,
    onRead: (reported) => warnings.push(...reported.map(textOf)),
    onResult: (result) => results.push(result),
    ...options,
  });
  return {
    end,
    warnings,
    reported: results.map((result) => `${hasFailed(result) ? '✗' : '✓'} ${result.name}`),
    results,
  };
}

const tests = (text: string): Readonly<Record<string, string>> => ({ 'gateway/prod.test.yaml': text });

describe('the cases of a folder', () => {
  test('run one after the other, and each is reported when it has ended', async () => {
    const { end, reported, results } = await run(tests(THREE));
    expect(reported).toEqual(['✓ one', '✗ two', '✓ three']);
    expect(end).toMatchObject({ kind: 'ran', notRun: 0, ms: 35 });
    expect(results[0]).toMatchObject({ file: 'configs/gateway/prod.test.yaml', place: { line: 2, column: 11 }, ms: 5 });
  });

  test('fail at the place of the expectation', async () => {
    const { results } = await run(tests(THREE));
    expect(results[1]?.failures).toEqual([
      { file: 'configs/gateway/prod.test.yaml', line: 7, column: 23, what: 'status', expected: '201', got: '200' },
    ]);
  });

  test.each([
    ['at its answers', 'upstream: [{ answer: a }]\n    expect: { status: 200 }', '4:15'],
    ['at its name, where it has none', 'expect: { status: 200 }', '2:11'],
  ])('with errors of their own fail %s', async (_, rest, place) => {
    const runCase = () => Promise.resolve([{ ...outcome(200), faults: ['the answer was not used'] }]);
    const { results } = await run(tests(`cases:\n${oneCase('a', rest)}`), { runCase });
    const [failure] = results[0]!.failures;
    expect(`${placeOf(failure!)}: ${headOf(failure!)}`).toBe(
      `configs/gateway/prod.test.yaml:${place}: the answer was not used`,
    );
  });

  const NEXT = `cases:\n${oneCase(
    'a',
    `expect: { status: 200 }
    next:
      - expect: { status: 201 }
      - expect: { status: 200 }`,
  )}`;

  test.each([
    ['as expected', [200, 201, 200], []],
    ['at its place; later ones are not reported', [200, 200, 404], ['6:27: next[0].status']],
    ['the first one before all others', [404, 404, 404], ['4:23: status']],
    [
      'which is not sent after one that does not end',
      [200, 201],
      ['7:9: next[1]: the request was not sent: the previous one did not end'],
    ],
  ])('fail at the first failing request: %s', async (_, statuses, expected) => {
    const { results } = await run(tests(NEXT), { runCase: () => Promise.resolve(statuses.map(outcome)) });
    expect(results[0]?.failures.map((one) => `${one.line}:${one.column}: ${headOf(one)}`)).toEqual(expected);
  });

  test.each([
    [
      'at its answers',
      '- upstream: [{ answer: a }]\n        expect: { status: 200 }',
      '6:19: next[0]: the answer was not used',
    ],
    ['at itself, where it has none', '- expect: { status: 200 }', '6:9: next[0]: the answer was not used'],
  ])('fail %s when a later request is itself wrong', async (_, step, expected) => {
    const runCase = () => Promise.resolve([outcome(200), { ...outcome(200), faults: ['the answer was not used'] }]);
    const text = oneCase('a', `expect: { status: 200 }\n    next:\n      ${step}`);
    const { results } = await run(tests(`cases:\n${text}`), { runCase });
    expect(results[0]?.failures.map((one) => `${one.line}:${one.column}: ${headOf(one)}`)).toEqual([expected]);
  });

  test('that cannot run fail, and the others run', async () => {
    const runCase: TestRun['runCase'] = ({ env: _ }, { name }) =>
      name === 'one' ? Promise.reject(new Error('no such thing')) : Promise.resolve([outcome(200)]);
    const { reported, results } = await run(tests(THREE), { runCase });
    expect(reported).toEqual(['✗ one', '✗ two', '✓ three']);
    expect(results[0]?.failures[0]?.message).toBe('the case could not be run: no such thing');
  });

  test('end with the first failure, with bail', async () => {
    const { end, reported } = await run(tests(THREE), { bail: true });
    expect([reported, end]).toMatchObject([['✓ one', '✗ two'], { notRun: 1 }]);
  });

  test.each([
    ['TWO', ['✗ two']],
    ['prod.test.yaml: t', ['✗ two', '✓ three']],
  ])('are filtered by %s in their file or name', async (filter, expected) => {
    expect((await run(tests(THREE), { filter })).reported).toEqual(expected);
  });

  test('are none when no case matches the filter', async () => {
    expect((await run(tests(THREE), { filter: 'four' })).end).toEqual({
      kind: 'nothing',
      message: 'none of the 3 cases in configs has "four" in its name or file',
    });
  });

  test('with the same variables share their setup, so that settings are read once', async () => {
    const setups: RunnerSetup[] = [];
    const runCase: TestRun['runCase'] = (setup) => {
      setups.push(setup);
      return Promise.resolve([outcome(200)]);
    };
    await run(
      {
        'gateway/prod.test.yaml': THREE,
        'a.test.yaml': `env: { A: b }\ncases:\n${oneCase('x', 'config: prod\n    expect: { status: 200 }')}`,
      },
      { runCase },
    );
    expect(setups.map(({ env }) => env)).toEqual([{ A: 'b' }, {}, {}, {}]);
    expect(new Set(setups).size).toBe(2);
  });
});

describe('nothing runs', () => {
  test('without tests', async () => {
    expect((await run({})).end).toEqual({
      kind: 'nothing',
      message: 'there are no tests in configs: tests of gateway/NAME.yaml belong in gateway/NAME.test.yaml',
    });
  });

  test('when a test file has the wrong name, which is reported', async () => {
    const { end, warnings } = await run({ 'gateway/prod.test.yml': THREE });
    expect(end.kind).toBe('nothing');
    expect(warnings).toEqual([
      expect.stringContaining('prod.test.yml:1:1: warning: this file is ignored; test files end in'),
    ]);
  });

  test('without the folder', async () => {
    expect((await run({}, { folder: 'cofnigs' })).end).toEqual({
      kind: 'nothing',
      message: 'there is no folder cofnigs',
    });
  });

  test('when the settings or the tests have errors: all are reported', async () => {
    const { end, reported } = await run({
      'gateway/prod.yaml': 'provider: "@smi"\n',
      'gateway/prod.test.yaml': `cases:\n${oneCase('a', 'key: tema\n    expect: { status: 200 }')}`,
      'gateway/other.test.yaml': 'cases: []\n',
    });
    expect(reported).toEqual([]);
    expect(end.kind === 'broken' && end.diagnostics.map(textOf)).toEqual([
      'configs/gateway/other.test.yaml:1:8: `cases` must have at least one item',
      'configs/gateway/prod.test.yaml:4:10: there is no key with the id `tema`; did you mean "team"?',
      'configs/gateway/prod.yaml:1:11: there is no catalog entry @smi; did you mean "@sim"?',
    ]);
  });

  test('when the settings turn out to be invalid only at run time', async () => {
    const diagnostic = { file: 'configs/catalog.yaml', line: 1, column: 1, severity: 'error', message: 'no' } as const;
    const runCase = () => Promise.reject(new SettingsRefused([diagnostic]));
    expect((await run(tests(THREE), { runCase })).end).toEqual({ kind: 'broken', diagnostics: [diagnostic] });
  });
});

describe('the settings of tests', () => {
  test('need none of their secrets', async () => {
    expect((await run(tests(THREE))).end.kind).toBe('ran');
  });

  test('have the variables of the tests', async () => {
    const catalog = 'providers: [{ slug: sim, provider: simulator, models: ["${env:MODEL}"] }]\n';
    const without = await run({ ...tests(THREE), 'catalog.yaml': catalog });
    expect(without.end.kind === 'broken' && without.end.diagnostics.map(textOf)).toEqual([
      expect.stringContaining('the environment variable `MODEL` is not set'),
    ]);
    expect((await run({ ...tests(`env: { MODEL: m }\n${THREE}`), 'catalog.yaml': catalog })).end.kind).toBe('ran');
  });

  test('cause no warnings, which `gatehouse validate` reports; tests do', async () => {
    const { warnings } = await run({
      'gateway/prod.yaml': 'provider: "@sim"\noverrideParams: { a: 1 }\n',
      ...tests(`cases:\n${oneCase('a')}${oneCase('a')}`),
    });
    expect(warnings).toEqual([expect.stringContaining('there are two cases with the name "a"')]);
  });
});
