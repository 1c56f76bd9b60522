import { expect, it } from 'vitest';
import { chatCompletions } from '../../../core/operations/openai.ts';
import { messages } from '../../../core/operations/messages.ts';
import { createExchange } from '../../../plugin/testing/index.ts';
import { Account } from '../limits/accounts.ts';
import { budgetOf } from '../limits/budgets.testkit.ts';
import { refusalError } from './budget-refusal.ts';

it.each([
  [messages, { 'anthropic-ratelimit-unified-overage-disabled-reason': 'fetch_error' }],
  [chatCompletions, undefined],
])(
  'a budget that cannot be checked names this reason to the clients that have a header for it, and lets all of them retry',
  (operation, headers) => {
    const refusal = { why: 'unavailable', account: undefined, amount: 1 } as const;
    const error = refusalError(createExchange({ operation }), refusal, { output: 1, wall: 0 });
    expect([error.code, error.retryAfterMs, error.limitHeaders]).toEqual(['budget_unavailable', 1000, headers]);
    expect(error.shouldRetry).toBeUndefined();
  },
);

it.each([
  ['key:a', true],
  ['team:a', false],
  ['organization:a', false],
])('a refusal says what is left of the budget of %s: %s, for the budget of a key alone is not shared', (ref, says) => {
  const budget = budgetOf(1000, { ref, unit: 'tokens' });
  const account = new Account(budget, { start: 0, end: Infinity }, budget.amount);
  account.used = 766;
  const refusal = { why: 'exceeded', account, amount: 500 } as const;
  const { message } = refusalError(createExchange(), refusal, { output: 1, wall: 0 });
  expect(message.includes('234')).toBe(says);
  expect(message).toContain('500 tokens');
});
