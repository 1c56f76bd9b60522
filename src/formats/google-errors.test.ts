import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { retryDelayOf } from './google-errors.ts';

const TYPE = 'type.googleapis.com/google.rpc.RetryInfo';

describe('the wait of google.rpc.RetryInfo', () => {
  it.each([
    ['whole seconds', '3s', 3000],
    ['a fraction, rounded up', '0.0001s', 1],
    ['the object form', { seconds: 2, nanos: 500_000_000 }, 2500],
    ['64-bit seconds as text', { seconds: '2' }, 2000],
    ['nanoseconds alone', { nanos: 1 }, 1],
    ['no unit', '3', undefined],
    ['a negative wait', '-3s', undefined],
    ['a negative wait in the object form', { seconds: -3 }, undefined],
    ['an empty object', {}, undefined],
    ['a number', 3, undefined],
  ])('is read from %s', (_, retryDelay, expected) => {
    expect(retryDelayOf([{ '@type': TYPE, retryDelay }])).toBe(expected);
  });

  it('is that of the first detail that has one', () => {
    expect(retryDelayOf([null, 'x', { reason: 'a' }, { retryDelay: 'soon' }, { retryDelay: '1s' }])).toBe(1000);
  });

  it('is undefined for any other details', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        for (const details of [value, { details: value }, [value]]) expect(retryDelayOf(details)).toBeUndefined();
      }),
    );
  });
});
