import { describe, expect, it } from 'vitest';
import type { PromptPrefixes } from '../../../core/kernel/prompt-prefixes.ts';
import { cacheRows, missOf, type CachedRequest } from './prompt-cache.ts';

const prefixes = (hashes: Readonly<Record<number, string>>, more: Partial<PromptPrefixes> = {}): PromptPrefixes => ({
  by: 'k',
  tools: 1000,
  system: 1000,
  sorted: 's',
  prefixes: Object.entries(hashes).map(([length, hash]) => [Number(length), hash]),
  ...more,
});
const BASE = { 512: 'a', 1000: 'b', 2000: 'c', 2048: 'd', 8192: 'e' };

const request = (minute: number, more: Partial<CachedRequest> = {}): CachedRequest => ({
  request_id: `r${minute}`,
  time: new Date(Date.UTC(2026, 10, 30, 10, minute)).toISOString(),
  key_id: 'search',
  request_model: 'm',
  provider: 'p',
  target: 'config',
  tokens: { input: 5000, cache_read: 0 },
  prefixes: prefixes(BASE),
  ...more,
});

describe('the likely cause of a miss', () => {
  const first = request(0);
  it.each<[string, CachedRequest, ReturnType<typeof missOf>]>([
    ['another target', request(1, { target: 'config.targets[1]' }), { cause: 'target' }],
    ['another entry', request(1, { provider: 'q' }), { cause: 'target' }],
    ['a short prompt', request(1, { tokens: { input: 1023, cache_read: 0 } }), { cause: 'short' }],
    [
      'other tools of the same length',
      request(1, { prefixes: prefixes({ 512: 'a', 1000: 'B', 2000: 'C', 2048: 'D' }, { sorted: 't' }) }),
      { cause: 'tools', after: 512 },
    ],
    [
      'more tools',
      request(1, { prefixes: prefixes({ 512: 'a', 1200: 'B', 2200: 'C' }, { sorted: 't', tools: 1200 }) }),
      { cause: 'tools', after: 512 },
    ],
    [
      'the same tools with other keys first',
      request(1, { prefixes: prefixes({ 512: 'A', 1000: 'B', 2000: 'C', 2048: 'D' }) }),
      { cause: 'key_order' },
    ],
    [
      'another system prompt',
      request(1, { prefixes: prefixes({ 512: 'a', 1000: 'b', 1500: 'C' }, { sorted: 't', system: 500 }) }),
      { cause: 'system', after: 0 },
    ],
    ['other messages', request(1, { prefixes: prefixes({ ...BASE, 8192: 'E' }) }), { cause: 'messages', after: 48 }],
    ['a pause', request(6), { cause: 'pause' }],
    ['nothing that is known', request(1), { cause: 'other' }],
    ['a longer conversation', request(1, { prefixes: prefixes({ ...BASE, 16_384: 'f' }) }), { cause: 'other' }],
    ['hashes of another key', request(1, { prefixes: prefixes(BASE, { by: 'other' }) }), { cause: 'unknown' }],
  ])('is found for %s', (_, one, miss) => expect(missOf(one, first)).toEqual(miss));

  it('takes an hour for a pause where a prompt was written for an hour, and sees that nothing was written', () => {
    const long = request(0, { tokens: { input: 5000, cache_read: 0, cache_write: 4000, cache_write_1h: 4000 } });
    expect([missOf(request(30), long).cause, missOf(request(59.9), long).cause]).toEqual(['other', 'other']);
    const unwritten = request(0, { tokens: { input: 5000, cache_read: 0, cache_write: 0 } });
    expect(missOf(request(1), unwritten).cause).toBe('unwritten');
    expect(missOf(request(1), undefined).cause).toBe('first');
  });

  it('is unknown without hashes, unless target or pause tell', () => {
    const { prefixes: _, ...plain } = request(1);
    expect(missOf(plain, first)).toEqual({ cause: 'unknown' });
    expect(missOf({ ...plain, time: request(9).time }, first)).toEqual({ cause: 'pause' });
  });
});

it('Rows have a key and a model each, with sums, misses and the latest request of each cause', () => {
  const rows = cacheRows([
    request(2, { tokens: { input: 6000, cache_read: 4000 } }),
    request(0),
    request(1),
    request(3, { target: 'other' }),
    request(4, { key_id: 'batch', alias: 'best', tokens: { input: 100, cache_read: 0, cache_write: 7 } }),
    request(5, { tokens: { input: 9 } }),
  ]);
  expect(rows).toEqual([
    {
      key: 'search',
      model: 'm',
      requests: 4,
      input: 21_000,
      cache_read: 4000,
      cache_write: 0,
      misses: 3,
      causes: { first: 1, other: 1, target: 1 },
      examples: [
        { cause: 'first', request_id: 'r0', after: null },
        { cause: 'other', request_id: 'r1', after: null },
        { cause: 'target', request_id: 'r3', after: null },
      ],
    },
    {
      key: 'batch',
      model: 'best',
      requests: 1,
      input: 100,
      cache_read: 0,
      cache_write: 7,
      misses: 1,
      causes: { short: 1 },
      examples: [{ cause: 'short', request_id: 'r4', after: null }],
    },
  ]);
});
