import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fitsPattern } from './compare.ts';
import { differences } from './differences.ts';

describe('any JSON', () => {
  const json = fc.jsonValue({ maxDepth: 4 }).map((value): unknown => JSON.parse(JSON.stringify(value)));

  test('equals itself', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(differences(value, value, [])).toEqual([]);
      }),
    );
  });

  test('matches with additional keys', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), json), fc.dictionary(fc.string(), json), (expected, more) => {
        expect(differences(expected, { ...more, ...expected }, [])).toEqual([]);
      }),
    );
  });

  test('differs exactly at a changed leaf', () => {
    fc.assert(
      fc.property(json, fc.nat(), (value, seed) => {
        const leaves = leavesOf(value, []);
        fc.pre(leaves.length > 0);
        const path = leaves[seed % leaves.length]!;
        expect(differences(replaced(value, path), value, [])).toMatchObject([{ path }]);
      }),
    );
  });
});

type Keys = readonly (string | number)[];

function leavesOf(value: unknown, path: Keys): readonly Keys[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => leavesOf(item, [...path, index]));
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, item]) => leavesOf(item, [...path, key]));
  return [path];
}

function replaced(value: unknown, [key, ...rest]: Keys): unknown {
  if (key === undefined) return 'no value of these, surely';
  if (Array.isArray(value)) return value.with(Number(key), replaced(value[Number(key)], rest));
  const copy = Object.entries(Object(value)).map(([name, item]) => [name, name === key ? replaced(item, rest) : item]);
  return Object.fromEntries(copy);
}

describe('a URL pattern', () => {
  test('matches exactly the texts with any text for each `*`', () => {
    const part = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 3 });
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), part, (parts, text) => {
        const regex = new RegExp(`^${parts.join('.*')}$`);
        expect(fitsPattern(parts.join('*'), parts.join(text))).toBe(true);
        expect(fitsPattern(parts.join('*'), text)).toBe(regex.test(text));
      }),
    );
  });
});
