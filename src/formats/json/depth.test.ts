import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_DEPTH, nestsTooDeep } from './depth.ts';

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
