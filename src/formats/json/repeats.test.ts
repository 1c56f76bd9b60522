import { describe, expect, it } from 'vitest';
import { repeatedKey } from './repeats.ts';

describe('a key that occurs twice in one object', () => {
  it.each<[string, string, string | undefined]>([
    ['is found', '{"a":1,"a":2}', 'a'],
    ['is found with an escape', '[{"model":"x","\\u006dodel":"y"}]', 'model'],
    ['is found behind a deeper object', '{"a":{"b":[1]} , "c":2, "a":3}', 'a'],
    ['is found inside a list', '[[{"x":{"b":1,"b":1}}]]', 'b'],
    ['is no key of two objects', '[{"a":1},{"a":1},{"b":{"a":1}}]', undefined],
    ['is no text', '{"a":"b","b":["b","b"],"c":"\\"a\\":"}', undefined],
    ['is not in a scalar', '"a"', undefined],
  ])('%s', (_, text, key) => {
    expect(repeatedKey(text)).toBe(key);
  });
});
