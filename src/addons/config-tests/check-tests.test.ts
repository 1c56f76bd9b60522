import { describe as group, expect, test } from 'vitest';
import { describe } from '../../core/settings/source/diagnostic.ts';
import { loadSettings } from '../../core/settings/read/load.ts';
import { folderWith, oneCase } from './tests.testkit.ts';
import { validateTests } from './check-tests.ts';

/** The diagnostics of one case with these lines. */
async function saidOf(rest: string, more: Readonly<Record<string, string>> = {}): Promise<readonly string[]> {
  const files = folderWith({ 'gateway/prod.test.yaml': `cases:\n${oneCase('a', rest)}`, ...more });
  const loaded = await loadSettings('configs', { env: { TEAM_KEY: 'canary-key' }, files });
  await validateTests(loaded.settings!, loaded, files);
  return loaded.diagnostics.map((one) => describe(one).replace('configs/gateway/prod.test.yaml:', ''));
}

const answered = (answer: string): Promise<readonly string[]> =>
  saidOf(`upstream: [${answer}]\n    expect: { status: 200 }`);
const expected = (text: string): Promise<readonly string[]> => saidOf(`expect: { ${text} }`);

group('an answer that says what is never sent', () => {
  const LATE = 'only a stream can have a `pause`; use `delay` for a late reply';
  test.each([
    [
      '{ answer: a, status: 503 }',
      '4:18: `answer` cannot be combined with `status: 503`: give a `body`, or only the status',
    ],
    [
      '{ status: 204, answer: a }',
      '4:31: `answer` cannot be combined with `status: 204`: give a `body`, or only the status',
    ],
    ['{ fault: hang, delay: 3s }', '4:31: `fault: hang` never replies, so it cannot be late'],
    ['{ body: {}, pause: 3s }', `4:28: ${LATE}`],
    ['{ status: 503, pause: 3s }', `4:31: ${LATE}`],
    ['{ fault: reset, pause: 3s }', `4:32: ${LATE}`],
  ])('%s', async (answer, said) => {
    expect(await answered(answer)).toEqual([said]);
  });

  test.each([
    '{ answer: a, status: 201 }',
    '{ answer: a, pause: 3s, fault: cut }',
    '{ stream: [{}], pause: 1s }',
    '{}',
  ])('and not: %s', async (answer) => {
    expect(await answered(answer)).toEqual([]);
  });
});

group('a header that is not looked at', () => {
  test.each([
    ['headers: { Date: null }', '4:26: `Date` belongs to the connection and cannot be expected'],
    [
      'outbound: { headers: { content-length: null } }',
      '4:38: `content-length` belongs to the connection and cannot be expected',
    ],
    [
      'outbound: [{ method: POST }, { headers: { host: "*" } }]',
      '4:57: `host` belongs to the connection and cannot be expected',
    ],
  ])('%s', async (text, said) => {
    expect(await expected(text)).toEqual([said]);
  });
});

test('a config in a header is recognized under every header prefix', async () => {
  const server = { 'server.yaml': 'header_prefixes: [gateway, portkey]\n' };
  const inHeader = 'headers: { X-Portkey-Config: other }\n    expect: { status: 200 }';
  expect(await saidOf(inHeader, server)).toEqual([
    '4:16: choose the config with `config: NAME`; for a config in a header use `config: none`',
  ]);
  expect(await saidOf(`config: none\n    ${inHeader}`, server)).toEqual([]);
  expect(await saidOf(inHeader)).toEqual([]);
});

test('a leap second is not a valid time', async () => {
  const said = await saidOf('at: 2026-06-30T23:59:60Z\n    expect: { status: 200 }');
  expect(said).toEqual(['4:9: 2026-06-30T23:59:60Z is not a valid time']);
});

test('a number in place of text or null gets a hint to quote it, and both allowed types are named', async () => {
  expect(await expected('headers: { retry-after: 2 }')).toEqual([
    '4:39: `retry-after` must be text, not 2: put it in quotes',
  ]);
  expect(await expected('attempts: first')).toEqual(['4:25: `attempts` must be a whole number or a list, not "first"']);
});

test('a variable that no file refers to may be misspelt', async () => {
  const text = `env: { TAEM_KEY: a, TEAM_KEY: b }\ncases:\n${oneCase('a')}`;
  expect(await saidOf('', { 'gateway/prod.test.yaml': text })).toEqual([
    '1:8: warning: no file of the settings refers to `${env:TAEM_KEY}`; did you mean "TEAM_KEY"?',
  ]);
});
