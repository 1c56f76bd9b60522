import { describe, expect, it } from 'vitest';
import { truthOf } from './conditions.ts';

const KNOWN = new Map<string, readonly unknown[]>([
  ['metadata.tier', ['paid']],
  ['params.stream', [undefined, false, null]],
  ['params.max_tokens', [100]],
]);
const truth = (query: object) => truthOf(query, (name) => KNOWN.get(name)).truth;

describe('a condition on values of which some are not known', () => {
  it.each<[string, object, boolean | undefined]>([
    ['holds by a known value', { 'metadata.tier': 'paid' }, true],
    ['does not hold by a known value', { 'params.max_tokens': { $gt: 100 } }, false],
    ['is unknown without its value', { 'headers.x-team': 'search' }, undefined],
    ['is unknown where the values that it may have differ', { 'params.stream': { $exists: true } }, undefined],
    ['does not hold by any value that it may have', { 'params.stream': true }, false],
    ['does not hold if one part does not', { 'metadata.tier': 'free', 'headers.x-team': 'search' }, false],
    ['is unknown if the rest holds', { 'metadata.tier': 'paid', 'headers.x-team': 'search' }, undefined],
    ['holds if one alternative does', { $or: [{ 'headers.x-team': 'a' }, { 'metadata.tier': 'paid' }] }, true],
    [
      'is unknown if no alternative holds',
      { $or: [{ 'headers.x-team': 'a' }, { 'metadata.tier': 'free' }] },
      undefined,
    ],
    ['is the opposite under $not', { $not: { 'metadata.tier': 'paid' } }, false],
    ['stays unknown under $not', { $not: { 'headers.x-team': 'a' } }, undefined],
  ])('%s', (_, query, expected) => expect(truth(query)).toBe(expected));

  it('names the fields that are missing', () => {
    const { unread } = truthOf({ 'headers.x-team': 'a', 'params.user': 'b', 'metadata.tier': 'paid' }, (name) =>
      KNOWN.get(name),
    );
    expect(unread).toEqual(['headers.x-team', 'params.user']);
  });
});
