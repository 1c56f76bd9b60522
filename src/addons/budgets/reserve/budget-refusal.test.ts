import { expect, it } from 'vitest';
import { chatCompletions } from '../../../core/operations/openai.ts';
import { messages } from '../../../core/operations/messages.ts';
import { createExchange } from '../../../plugin/testing/index.ts';
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
