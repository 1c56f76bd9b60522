import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_DEPTH } from './scan.ts';
import { JsonText, writeJson } from './text.ts';
import { runs } from '../../../test/support/effort.ts';

/** Long enough to be kept as text. */
const long = (json: string): string => json + ' '.repeat(MAX_DEPTH);
const nested = (depth: number): string => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth);

describe('A JSON text that enters a body unchanged', () => {
  it.each([
    ['an object', '{"a":[1,-2.5e-3,"\\u00e9",true,false,null,{}],"":""}', true],
    ['a list', '[[],{}]', false],
    ['a whole number that a double holds', '{"id":12345678901234568}', true],
    ['a fraction with many digits', '{"id":0.12345678901234567}', true],
    ['the deepest nesting', nested(MAX_DEPTH), true],
  ])('is %s', (_, text, isObject) => {
    expect(JsonText.of(long(text))).toMatchObject({ text: long(text), isObject });
  });

  it.each([
    ['a whole number that parsing rounds', '{"id":12345678901234567891}'],
    ['a number beyond the range of a double', '{"id":1e999}'],
    ['a nesting that is too deep', nested(MAX_DEPTH + 1)],
    ['a comma too many', '{"a":1,}'],
    ['a number with a zero in front', '{"a":01}'],
    ['a raw control character', '{"a":"\n"}'],
    ['an unknown escape', '{"a":"\\x41"}'],
    ['a second value', '{} {}'],
    ['an end that is missing', '{"a":"'],
    ['white space alone', ' '],
    ['half of a surrogate pair', '{"a":"\ud800"}'],
  ])('is not %s', (_, text) => {
    expect(JsonText.of(long(text))).toBeUndefined();
  });

  it('is never a short one, which is parsed as fast', () => {
    expect(JsonText.of('{"a":1}')).toBeUndefined();
  });

  it.each([
    ['short', '{"a":1,"b":{"c":1,"\\u0063":2}}'],
    ['long', long('{"a":1,"b":{"c":1,"\\u0063":2}}')],
  ])('is a %s one with a repeated key, and keeps both values', (_, text) => {
    expect(writeJson({ input: JsonText.of(text) })).toBe(`{"input":${text}}`);
  });

  it.each(['{"a":1,"b":2,"a"}', '{"a":1,"a":01}', '"a:b:c"', '[{"a":1},{"a":1}]'])(
    'is not the short text %s, which repeats no key or is invalid JSON',
    (text) => {
      expect(JsonText.of(text)).toBeUndefined();
    },
  );

  it('is accepted only if JSON.parse accepts it, whatever is changed in it', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.constantFrom(...'{}[],:"\\01.e-tn\n '), (json, at, put) => {
        const place = at % json.length;
        const text = long(json.slice(0, place) + put + json.slice(place + 1));
        const whole = JsonText.of(text);
        if (whole) expect(JSON.parse(writeJson({ input: whole }))).toEqual({ input: JSON.parse(text) });
      }),
      { numRuns: runs(1000) },
    );
  });

  it('is written at its member, whatever strings come before it', () => {
    const strings = fc.array(
      fc.oneof(
        fc.string(),
        fc.constantFrom(':1E+0000', 'a:1E+0000', '":1E+0000', '\\":1E+0000', 'input":1E+0000', '"input":1E+0000', '\\'),
      ),
    );
    fc.assert(
      fc.property(strings, strings, (before, after) => {
        const value = { a: before, text: '{"input":1}' };
        const text = long(JSON.stringify(value));
        const call = { before, input: JsonText.of(text) };
        expect(JSON.parse(writeJson([call, { after }, call]))).toEqual([
          { before, input: value },
          { after },
          { before, input: value },
        ]);
      }),
    );
  });

  it('is written as the same JSON as its parsed value, whatever keys and strings surround it', () => {
    const looks = fc.constantFrom(':1E+0000', '":1E+0000', 'input":1E+0000', '\\', '1E+0000', 'input', '\ud800', '\n"');
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        looks,
        fc.string({ unit: 'binary' }),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.constantFrom(true, null, 1e308),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(fc.oneof(looks, fc.string()), tie('value'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(fc.array(fc.tuple(value, value, fc.nat(2)), { minLength: 1, maxLength: 4 }), (calls) => {
        const textOf = (input: unknown, indent: number): string => {
          // As callers write it that leave such halves unescaped.
          const text = JSON.stringify(input, null, indent).replaceAll(/(?<!\\)((?:\\\\)*)\\ud800/g, '$1\ud800');
          return long(text);
        };
        const parsed = calls.map(([around, input, indent]) => ({
          around,
          input: JSON.parse(textOf(input, indent)) as unknown,
        }));
        const kept = calls.map(([around, input, indent]) => {
          const text = textOf(input, indent);
          return { around, input: JsonText.of(text) ?? (JSON.parse(text) as unknown) };
        });
        const sent = Buffer.from(writeJson({ messages: kept })).toString();
        expect(JSON.parse(sent)).toEqual(JSON.parse(Buffer.from(JSON.stringify({ messages: parsed })).toString()));
      }),
      { numRuns: runs(1000) },
    );
  });

  it('is refused in a list, where no member name marks its place', () => {
    expect(() => writeJson([JsonText.of(long('{}'))])).toThrow('must be the value of a member');
  });

  it('is written as its parsed value by JSON.stringify', () => {
    expect(JSON.stringify({ input: JsonText.of(long('{"a":1}')) })).toBe('{"input":{"a":1}}');
  });
});
