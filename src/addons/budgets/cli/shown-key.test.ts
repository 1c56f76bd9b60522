import { expect, test } from 'vitest';
import { keepOutput, TestFolder } from '../../../core/commands/folder.testkit.ts';
import { listKeysCommand } from '../../../core/commands/keys/list.ts';

const KEYS = `keys:
  - { id: all, digest: "sha256:${'a'.repeat(64)}" }
  - id: some
    digest: sha256:${'b'.repeat(64)}
    limits: { requests: 600/min, tokens: { rate: 100000/min, count: uncached }, models: { gpt-5*: { concurrency: 2 } } }
    budgets: [{ cap: 5 USD, period: day }, { cap: 9 tokens, period: total, models: [a, b] }]
`;

async function list(format: 'table' | 'json') {
  const folder = new TestFolder();
  try {
    folder.write('catalog.yaml', 'providers: []\n');
    folder.write('keys.yaml', KEYS);
    const output = keepOutput();
    await listKeysCommand({ ...output, dir: folder.path, env: {}, now: Date.UTC(2026, 10, 21), format });
    return output.printed.out;
  } finally {
    folder.remove();
  }
}

test('keys list shows the limits and budgets of each key', async () => {
  const rows = (await list('table')).split('\n').map((line) => line.split(/ {2,}/).slice(-2));
  expect(rows).toEqual([
    ['LIMITS', 'BUDGETS'],
    ['-', '-'],
    ['requests 600/min, tokens 100000/min, concurrency 2 of gpt-5*', '5 USD per day, 9 tokens in total of a or b'],
    [''],
  ]);
});

test('as JSON it has null for no limit', async () => {
  expect(JSON.parse(await list('json'))).toMatchObject([{ limits: null, budgets: null }, { id: 'some' }]);
});
