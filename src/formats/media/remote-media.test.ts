import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isAddress, replaceAt } from './remote-media.ts';

describe('an address', () => {
  it.each(['https://a.example/x.png', 'HTTP://a.example', 'gs://bucket/x', 'ftp://a.example/x', 'data2://x'])(
    'is %s',
    (text) => expect(isAddress(text)).toBe(true),
  );

  it.each(['data:image/png;base64,AA', 'DATA://image', 'a.example/x.png', '//a.example/x', '', 7, null, undefined])(
    'is not %j',
    (text) => expect(isAddress(text)).toBe(false),
  );
});

describe('a value replaced at a path', () => {
  it.each([
    [{ a: 1, b: 2 }, ['a'], { a: 'new', b: 2 }],
    [{ a: [1, { b: 2 }] }, ['a', 1, 'b'], { a: [1, { b: 'new' }] }],
    [
      [[1], [2]],
      [1, 0],
      [[1], ['new']],
    ],
    [{ a: 1 }, [], 'new'],
  ])('in %j at %j stands there and nowhere else', (value, path, expected) => {
    expect(replaceAt(value, path, 'new')).toEqual(expected);
  });

  it.each([
    [{ a: 1 }, ['b']],
    [{ a: 1 }, ['a', 'b']],
    [[1], [1]],
    [[1], ['length']],
    [{}, ['__proto__', 'x']],
    [null, ['a']],
  ])('changes nothing in %j, where %j leads nowhere', (value, path) => {
    expect(replaceAt(value, path, 'new')).toEqual(value);
  });

  it('never changes its input, and restores the original value', () => {
    const path = fc.array(fc.oneof(fc.nat(3), fc.constantFrom('a', 'b')), { maxLength: 4 });
    fc.assert(
      fc.property(fc.jsonValue(), path, (value, steps) => {
        const before = structuredClone(value);
        const mark = Symbol('mark');
        const replaced = replaceAt(value, steps, mark);
        expect(value).toEqual(before);
        if (replaced !== value) expect(replaceAt(replaced, steps, mark)).toEqual(replaced);
      }),
    );
  });
});
