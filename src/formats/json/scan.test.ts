import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_DEPTH, nestsTooDeep, repeatedKey } from './scan.ts';

const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
const arrays = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

describe('the nesting depth of a JSON text', () => {
  it.each([
    ['objects up to the bound are taken', objects(MAX_DEPTH), false],
    ['objects beyond it are too deep', objects(MAX_DEPTH + 1), true],
    ['arrays up to the bound are taken', arrays(MAX_DEPTH), false],
    ['arrays beyond it are too deep', arrays(MAX_DEPTH + 1), true],
    ['brackets beside each other do not add up', `[${'[],'.repeat(1000)}{}]`, false],
    ['brackets inside a string do not count', JSON.stringify({ a: '[{"'.repeat(1000) }), false],
    ['an escaped quote does not end a string', `["\\"${'['.repeat(1000)}"]`, false],
    ['an escaped backslash before a quote does', `["\\\\",${arrays(MAX_DEPTH)}]`, true],
    ['a string that does not end is no depth', `"${'['.repeat(1000)}\\`, false],
  ])('%s', (_, text, isTooDeep) => {
    expect(nestsTooDeep(text)).toBe(isTooDeep);
  });

  it('ignores brackets inside strings', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 250, max: 260 }), (text, depth) => {
        const key = JSON.stringify(text);
        const json = `${`{${key}:`.repeat(depth)}${key}${'}'.repeat(depth)}`;
        expect(nestsTooDeep(json)).toBe(depth > MAX_DEPTH);
      }),
    );
  });
});

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
