import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nearest } from './nearest.ts';

describe('nearest', () => {
  test.each([
    ['@vertx-prod', '@vertex-prod'],
    ['@vertex-prdo', '@vertex-prod'],
    ['@VERTEX-TEST', '@vertex-test'],
    ['@vertex_test', '@vertex-test'],
    ['@claud', '@claude'],
    ['@clade', '@claude'],
    ['@cla', '@claude'],
    ['@vertex', undefined],
    ['@something-else-entirely', undefined],
    ['@x', undefined],
    ['', undefined],
    ['y'.repeat(1_000_000), undefined],
  ])('to the slug %.20j is %j', (word, suggestion) => {
    expect(nearest(word, ['@vertex-prod', '@vertex-test', '@claude', '@sim'])).toBe(suggestion);
  });

  test.each([
    ['stratgey', 'strategy'],
    ['onStatusCodes', 'on_status_codes'],
    ['on-status-codes', 'on_status_codes'],
    ['request_timout', 'request_timeout'],
    ['targest', 'targets'],
    ['st', undefined],
    ['colour', undefined],
  ])('to the key %j is %j', (word, suggestion) => {
    expect(nearest(word, ['name', 'strategy', 'targets', 'request_timeout', 'on_status_codes'])).toBe(suggestion);
  });

  test('is the nearer one of two that are near, and the first of two that are equally near', () => {
    expect(nearest('connct', ['connected', 'connect'])).toBe('connect');
    expect(nearest('cat', ['bat', 'hat'])).toBe('bat');
  });

  test('takes candidates that can be read only once', () => {
    expect(nearest('vertex', ['vertex-ai', 'anthropic'].values())).toBe('vertex-ai');
  });

  test('finds every word of five letters or more with one letter missing, doubled or swapped with its neighbour', () => {
    const word = fc.stringMatching(/^[a-z]{5,12}$/);
    const slip = fc.constantFrom(
      (text: string, at: number) => text.slice(0, at) + text.slice(at + 1),
      (text: string, at: number) => text.slice(0, at + 1) + text.slice(at),
      (text: string, at: number) =>
        text.slice(0, at) +
        text
          .slice(at, at + 2)
          .split('')
          .toReversed()
          .join('') +
        text.slice(at + 2),
    );
    fc.assert(
      fc.property(word, slip, fc.nat(), (text, misspell, at) => {
        expect(nearest(misspell(text, at % text.length), [text])).toBe(text);
      }),
    );
  });
});
