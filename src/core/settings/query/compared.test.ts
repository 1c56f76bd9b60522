import { describe, expect, it } from 'vitest';
import type { ConditionInput } from '../../kernel/index.ts';
import { comparedBy } from './compared.ts';

const BODY: Readonly<Record<string, unknown>> = {
  model: 'm',
  user: 'u'.repeat(500),
  max_tokens: 5,
  messages: [{ role: 'user', content: 'canary' }],
};
const request = {
  metadata: { tier: 'gold' },
  operation: undefined,
  request: {
    headers: { 'x-app': 'search' },
    path: '/v1/chat/completions',
    body: { string: (key: string) => BODY[key], has: (key: string) => key in BODY, value: (key: string) => BODY[key] },
  },
} as unknown as ConditionInput;

describe('the values that conditions compare', () => {
  it('are those of each field once', () => {
    const read = comparedBy([
      { 'metadata.tier': 'gold', $or: [{ model: 'm' }, { $not: { 'params.max_tokens': { $gt: 3 } } }] },
      { 'metadata.tier': { $in: ['x'] }, 'params.user': 'u', 'headers.x-none': 'a' },
    ]);
    expect(read(request)).toEqual([
      { field: 'metadata.tier', found: 'gold' },
      { field: 'model', found: 'm' },
      { field: 'params.max_tokens', found: 5 },
      { field: 'params.user', found: 'u'.repeat(500) },
      { field: 'headers.x-none', found: null },
    ]);
  });

  it('are no texts of messages', () => {
    const read = comparedBy([{ 'params.messages.0.content': { $regex: 'can' }, 'params.input': 'x', path: '/v1' }]);
    expect(JSON.stringify(read(request))).toBe('[{"field":"path","found":"/v1/chat/completions"}]');
  });
});
