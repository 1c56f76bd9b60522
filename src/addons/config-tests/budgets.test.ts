import { expect, test } from 'vitest';
import { caseOf, setupOf, TARGETS } from './run.testkit.ts';
import { runCase } from './runner.ts';

const upstream = [{ answer: 'word '.repeat(4000) }];

/** 1,000 tokens of answer are reserved with each request, and the answer is longer. */
const setup = (budget: object) =>
  setupOf({
    keys: { keys: [{ id: 'team', key: '${env:TEAM_KEY}', budgets: [budget] }] },
    gateway: { prod: { ...TARGETS.openai, override_params: { model: 'gpt-4o', max_tokens: 1000 } } },
  });

test('the requests of a case spend its budgets, which begin at zero, and anew with each period', async () => {
  const next = [{ expect: {} }, { after: '24h', upstream, expect: {} }];
  const budget = { cap: '2500 tokens', period: 'day' };
  const outcomes = await runCase(await setup(budget), caseOf({ key: 'team', upstream, next }));
  expect(outcomes.map(({ status, calls, faults }) => [status, calls.length, ...faults])).toEqual([
    [200, 1],
    [429, 0],
    [200, 1],
  ]);
});

test('a case without a key has no budget', async () => {
  const outcomes = await runCase(await setup({ cap: '0 tokens', period: 'total' }), caseOf({ upstream }));
  expect(outcomes.map(({ status }) => status)).toEqual([200]);
});
