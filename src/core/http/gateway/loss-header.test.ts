import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lossHeader } from './reply-headers.ts';

describe('the header of lost parameters', () => {
  test.each([
    [[], ''],
    [['seed'], 'seed'],
    [['seed', 'messages[2].content[0]', 'seed'], 'seed,messages[2].content[0]'],
    [['anthropic-beta: context-1m-2025-08-07'], 'anthropic-beta: context-1m-2025-08-07'],
    [['a,b', 'größe', 'line\nbreak'], 'a%2Cb,gr%C3%B6%C3%9Fe,line%0Abreak'],
  ])('names %j as %s', (params, header) => {
    expect(lossHeader(params.map((param) => ({ param })))).toBe(header);
  });

  test('counts the names it has no room for', () => {
    const names = Array.from({ length: 200 }, (_, index) => `messages[${index}].name`);
    const header = lossHeader(names.map((param) => ({ param })));
    const [, left] = /\(\+(\d+) more\)$/.exec(header)!;
    expect(header.split(',').length - 1 + Number(left)).toBe(200);
    expect(names).toEqual(expect.arrayContaining(header.split(',').slice(0, -1)));
  });

  test('counts the losses without names', () => {
    const losses = [{ param: 'seed' }, { param: '(+5 more)', count: 5 }, { param: '(+100000 more)', count: 100_000 }];
    expect(lossHeader(losses)).toBe('seed,(+100005 more)');
    expect(lossHeader(losses.slice(1))).toBe('(+100005 more)');
  });

  test('is one short line of visible ASCII, whatever names callers give their fields', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), (names) => {
        const header = lossHeader(names.map((param) => ({ param })));
        expect(header).toMatch(/^[\x20-\x7e]*$/);
        expect(header.length).toBeLessThanOrEqual(1024);
      }),
    );
  });
});
