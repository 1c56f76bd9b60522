import { describe, expect, test } from 'vitest';
import type { FormatName } from '../../formats/conversation.ts';
import { callersLimits } from './rate-limit-headers.ts';

const NOW = Date.UTC(2026, 10, 23, 10, 0, 0);
const OPENAI = {
  'x-ratelimit-limit-requests': '60',
  'x-ratelimit-remaining-requests': '59',
  'x-ratelimit-reset-requests': '1m30s',
  'x-ratelimit-limit-tokens': '1000',
  'x-ratelimit-reset-tokens': '20ms',
  'x-other': 'a',
};
const ANTHROPIC = {
  'anthropic-ratelimit-requests-limit': '60',
  'anthropic-ratelimit-requests-remaining': '59',
  'anthropic-ratelimit-requests-reset': '2026-11-23T10:01:30Z',
  'anthropic-ratelimit-tokens-limit': '1000',
  'anthropic-ratelimit-tokens-reset': '2026-11-23T10:00:01Z',
};
const { 'x-other': _, ...SAME } = OPENAI;

describe('limits of the caller’s own account', () => {
  test.each<[string, FormatName, FormatName | undefined, Record<string, string>, Record<string, string>]>([
    ['keep their names in the same API', 'openai-chat', 'openai-chat', OPENAI, SAME],
    ['have Anthropic’s names for its clients', 'openai-chat', 'anthropic-messages', OPENAI, ANTHROPIC],
    [
      'have OpenAI’s names for its clients',
      'anthropic-messages',
      'openai-chat',
      ANTHROPIC,
      { ...SAME, 'x-ratelimit-reset-requests': '90s', 'x-ratelimit-reset-tokens': '1s' },
    ],
    ['have no names in Gemini’s API', 'openai-chat', 'gemini', OPENAI, {}],
    [
      'are left out where the other API has no such limit',
      'anthropic-messages',
      'openai-chat',
      { 'anthropic-ratelimit-input-tokens-limit': '5', 'anthropic-ratelimit-tokens-reset': 'soon' },
      {},
    ],
    [
      'are left out where a time cannot be read',
      'openai-chat',
      'anthropic-messages',
      { 'x-ratelimit-reset-tokens': '999999999999d' },
      {},
    ],
  ])('%s', (_title, upstream, client, headers, expected) => {
    expect(callersLimits(headers, { upstream, client, now: NOW })).toEqual(expected);
  });
});
