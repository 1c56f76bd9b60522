import { describe, expect, it } from 'vitest';
import { readAnswer } from './answer.ts';

const read = (value: unknown, status = 200) => readAnswer(status, JSON.stringify(value));

describe('the answer of the service', () => {
  it.each([
    ['a key', { key: 'k', ttl: 60 }, { key: 'k', ttlMs: 60_000 }],
    ['no time', { key: 'k' }, { key: 'k', ttlMs: 0 }],
    ['more than five minutes', { key: 'k', ttl: 1e9 }, { key: 'k', ttlMs: 300_000 }],
    [
      'a caller in the words of keys.yaml',
      { caller: { id: 'a', team: 't', default_config: 'c', metadata: { k: 'v' }, limits: { requests: '1/s' } } },
      {
        caller: { id: 'a', team: 't', defaultConfig: 'c', metadata: { k: 'v' }, limits: { requests: '1/s' } },
        ttlMs: 0,
      },
    ],
  ])('may have %s', (_, value, expected) => {
    expect(read(value)).toEqual(expected);
  });

  it('may be a refusal with a message, or without a body', () => {
    expect(readAnswer(401, '')).toEqual({ no: 'unknown', message: undefined, ttlMs: 0 });
    expect(read({ message: 'no', ttl: 1 }, 403)).toEqual({ no: 'refused', message: 'no', ttlMs: 1000 });
  });

  it.each([
    ['another status', () => readAnswer(302, '{}')],
    ['no JSON', () => readAnswer(200, 'yes')],
    ['a list', () => read([])],
    ['neither key nor caller', () => read({ ttl: 1 })],
    ['both', () => read({ key: 'k', caller: { id: 'a' } })],
    ['a key of another type', () => read({ key: 1 })],
    ['a member that is not known', () => read({ key: 'k', valid: false })],
    ['a time of another type', () => read({ key: 'k', ttl: '60' })],
    ['a negative time', () => read({ key: 'k', ttl: -1 })],
  ])('is not read with %s', (_, action) => {
    expect(action).toThrow();
  });

  it.each(['limit', 'budgets', 'ID'])('has a caller with an unknown member: %s', (name) => {
    expect(() => read({ caller: { id: 'a', [name]: 'x' } })).toThrow(
      expect.objectContaining({ code: 'key_misconfigured' }),
    );
  });

  it.each([{ team: 1 }, { models: 'm' }, { metadata: { a: 1 } }, { limits: { requests: null } }])(
    'has a caller whose member has another type: %j',
    (more) => {
      expect(() => read({ caller: { id: 'a', ...more } })).toThrow(
        expect.objectContaining({ code: 'key_misconfigured' }),
      );
    },
  );
});
