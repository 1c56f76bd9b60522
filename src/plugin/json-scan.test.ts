import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scanTopLevel } from './json-scan.ts';

const scan = (text: string, depth = 64) => scanTopLevel(Buffer.from(text), depth);
const codeOf = (text: string, depth?: number): unknown => {
  try {
    scan(text, depth);
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

describe('scanning the outline of a body', () => {
  it('finds each top-level value, whatever stands inside strings', () => {
    const text = ' { "model" : "a\\"b, \\"model\\": 1" , "n":-1.5e3,"x":{"model":"no"},"stream":true, "z": null } ';
    const spans = scan(text);
    expect(
      Object.fromEntries([...spans].map(([key, { from, to, kind }]) => [key, [text.slice(from, to), kind]])),
    ).toEqual({
      model: ['"a\\"b, \\"model\\": 1"', 'string'],
      n: ['-1.5e3', 'number'],
      x: ['{"model":"no"}', 'object'],
      stream: ['true', 'boolean'],
      z: ['null', 'null'],
    });
  });

  it.each([
    ['', 'invalid_json'],
    ['   ', 'invalid_json'],
    ['[1]', 'invalid_request'],
    ['"text"', 'invalid_request'],
    ['nul', 'invalid_json'],
    ['{"a":1', 'invalid_json'],
    ['{"a":1}x', 'invalid_json'],
    ['{"a":1,}', 'invalid_json'],
    ['{a:1}', 'invalid_json'],
    ['{"a" 1}', 'invalid_json'],
    ['{"a":01}', 'invalid_json'],
    ['{"a":+1}', 'invalid_json'],
    ['{"a":"\\x"}', 'invalid_json'],
    ['{"a":"\\u12g4"}', 'invalid_json'],
    ['{"a":"line\nbreak"}', 'invalid_json'],
    ['{"a":[1,]}', 'invalid_json'],
    ['{"a":"open', 'invalid_json'],
    ['{"model":"a","model":"b"}', 'duplicate_parameter'],
    ['{"model":"a","\\u006dodel":"b"}', 'duplicate_parameter'],
  ])('refuses %j as %s', (text, code) => {
    expect(codeOf(text)).toBe(code);
  });

  it('refuses nesting beyond the limit and allows it up to there', () => {
    const nested = (levels: number) => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    expect(codeOf(nested(7), 8)).toBeUndefined();
    expect(codeOf(nested(8), 8)).toBe('body_too_deep');
    expect(codeOf(`{"a":${'['.repeat(200_000)}`, 64)).toBe('body_too_deep');
  });

  it('agrees with JSON.parse on what is JSON, and on every top-level value', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), fc.nat(3), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const bytes = Buffer.from(text);
        const spans = scanTopLevel(bytes, 512);
        const parsed = JSON.parse(text) as Record<string, unknown>;
        expect([...spans.keys()]).toEqual(expect.arrayContaining(Object.keys(parsed)));
        for (const [key, { from, to }] of spans)
          expect(JSON.parse(bytes.toString('utf8', from, to))).toEqual(parsed[key]);
      }),
    );
  });

  it('refuses what JSON.parse refuses when one byte of a body is changed', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.nat(),
        fc.integer({ min: 0x20, max: 0x7e }),
        (value, at, byte) => {
          const bytes = Buffer.from(JSON.stringify(value));
          bytes[at % bytes.length] = byte;
          const text = bytes.toString('utf8');
          let parses = true;
          try {
            JSON.parse(text);
          } catch {
            parses = false;
          }
          expect(codeOf(text, 512) === 'invalid_json').toBe(!parses);
        },
      ),
    );
  });
});
