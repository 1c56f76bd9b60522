import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { topLevelMember, valueOf } from './json-span.ts';

/** The text without the member; positions are those of latin1 text, as in a pass-through. */
function without(text: string, key: string): string {
  const latin1 = Buffer.from(text).toString('latin1');
  const span = topLevelMember(latin1, JSON.stringify(key));
  const cut = span ? latin1.slice(0, span.from) + latin1.slice(span.to) : latin1;
  return Buffer.from(cut, 'latin1').toString('utf8');
}

describe('topLevelMember', () => {
  it.each([
    ['at the end', '{"a":1,"usage":null}', '{"a":1}'],
    ['at the start', '{"usage":null,"a":1}', '{"a":1}'],
    ['in the middle', '{"a":1,"usage":{"x":[1,{"y":"}"}]},"b":2}', '{"a":1,"b":2}'],
    ['alone', '{"usage":null}', '{}'],
    ['with spaces', '{ "a" : 1 , "usage" : null , "b" : 2 }', '{ "a" : 1  , "b" : 2 }'],
    ['with a number before a bracket', '{"a":[1],"usage":12}', '{"a":[1]}'],
    ['with a text that ends in escaped quotes', '{"usage":"a\\\\\\"","b":1}', '{"b":1}'],
    ['with the key itself as its value', '{"usage":"usage","a":1}', '{"a":1}'],
    ['beside one further down', '{"a":{"usage":1},"usage":2}', '{"a":{"usage":1}}'],
  ])('is found %s', (_title, text, left) => {
    expect(without(text, 'usage')).toBe(left);
    JSON.parse(left);
  });

  it.each([
    ['deeper', '{"a":{"usage":1}}'],
    ['in a list', '{"a":[{"usage":1}]}'],
    ['in a text', '{"a":"\\"usage\\":null,"}'],
    ['as a text', '{"a":"usage"}'],
    ['as the end of another key', '{"x\\"usage":1}'],
    ['as the beginning of another key', '{"usage\\"x":1}'],
  ])('is not found %s', (_title, text) => expect(without(text, 'usage')).toBe(text));

  it('removes one member from any object and changes nothing else', () => {
    const key = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 6 }),
      fc.constantFrom('x"usage', 'usage"', '\\usage'),
    );
    const members = fc.array(fc.tuple(key, fc.jsonValue({ noUnicodeString: false })), { maxLength: 5 });
    fc.assert(
      fc.property(members, members, fc.jsonValue(), fc.constantFrom(undefined, 1), (before, after, value, indent) => {
        const clean = (list: readonly (readonly [string, unknown])[]) => list.filter(([name]) => name !== 'usage');
        const rest = Object.fromEntries([...clean(before), ...clean(after)]);
        const whole = Object.fromEntries([...clean(before), ['usage', value], ...clean(after)]);
        expect(JSON.parse(without(JSON.stringify(whole, undefined, indent), 'usage'))).toEqual(
          JSON.parse(JSON.stringify(rest)),
        );
      }),
    );
  });
});

it('finds keys at any depth, and no text that looks like a key', () => {
  expect(valueOf('{"a":{"error" : null}}', '"error"')).toBe(16);
  expect(valueOf('{"a":"\\"error\\": 1"}', '"error"')).toBe(-1);
  expect(valueOf('{"a":"error","b":1}', '"error"')).toBe(-1);
});
