import { expect, it } from 'vitest';
import type { FormatName } from '../../../formats/conversation.ts';
import { setRateHeaders } from './reply-headers.ts';

const FIGURES = {
  requests: { limit: 600, remaining: 99, resetMs: 100 },
  tokens: { limit: 100_000, remaining: 0, resetMs: 61_200.4 },
};
const WALL = Date.parse('2026-01-01T00:00:00.500Z');

it.each<[FormatName, object]>([
  [
    'openai-responses',
    {
      'x-ratelimit-limit-requests': '600',
      'x-ratelimit-remaining-requests': '99',
      'x-ratelimit-reset-requests': '0.1s',
      'x-ratelimit-limit-tokens': '100000',
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '61.201s',
    },
  ],
  [
    'anthropic-messages',
    {
      'anthropic-ratelimit-requests-limit': '600',
      'anthropic-ratelimit-requests-remaining': '99',
      'anthropic-ratelimit-requests-reset': '2026-01-01T00:00:01Z',
      'anthropic-ratelimit-tokens-limit': '100000',
      'anthropic-ratelimit-tokens-remaining': '0',
      'anthropic-ratelimit-tokens-reset': '2026-01-01T00:01:02Z',
    },
  ],
  ['gemini', {}],
])('the limits of a caller are headers as the clients of %s read them', (format, expected) => {
  const headers = {};
  setRateHeaders(headers, FIGURES, { format, wall: WALL });
  expect(headers).toEqual(expected);
});
