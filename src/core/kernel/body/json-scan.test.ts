import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GatewayError } from '../../../plugin/errors.ts';
import { scanObject, scanTopLevel } from './json-scan.ts';
import { runs } from '../../../../test/support/effort.ts';

const LIMITS = { depth: 64, keys: 200, items: 50 };
const scan = (text: string, depth = 64) => scanTopLevel(Buffer.from(text), { depth, keys: 50, items: 50 });
const codeOf = (text: string, depth?: number): unknown => {
  try {
    scan(text, depth);
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const throws = (work: () => unknown): boolean => {
  try {
    work();
    return false;
  } catch {
    return true;
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
    ['true1', 'invalid_json'],
    ['null-1', 'invalid_json'],
    ['[false0]', 'invalid_json'],
    ['{"a":true1}', 'invalid_json'],
    ['{"a":false-2.5}', 'invalid_json'],
    ['{"store":null1}', 'invalid_json'],
    ['{"a":truetrue}', 'invalid_json'],
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

  describe('refuses a key that an object inside the body has twice', () => {
    const many = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}":{"a":[{"b":0}]}`).join();
    it.each<[string, string, string | undefined]>([
      ['in an object', '{"a":{"b":1,"b":2}}', 'a'],
      ['in a list', '{"a":[{"b":1},{"b":1,"c":{},"b":2}]}', 'a[1]'],
      ['behind a deeper object', '{"a":{"b":{"b":1,"c":[{"b":1}]} , "c":2, "b":3}}', 'a'],
      ['with an escape in the first', '{"a":{"\\u0062":{"b":1},"c":1,"b":2}}', 'a'],
      ['with an escape in the second', '{"a":{"b":{"b":1},"c":1,"\\u0062":2}}', 'a'],
      ['with half of a surrogate pair', '{"a":{"\\ud800":1,"\\ud800":2}}', 'a'],
      ['that is empty', '{"a":{"":1,"":2}}', 'a'],
      ['beside many others', `{"a":{${many(60)},"k3":1}}`, 'a'],
      ['beside many others, the last of them', `{"a":{${many(60)},"k59":1}}`, 'a'],
      ['in an object of an object with many', `{"a":{${many(40)},"b":{"c":1,"c":2}}}`, 'a.b'],
      [
        'but not one of two objects',
        `{"a":{"b":{"b":1}},"b":[{"b":1},{"b":1}],"c":{${many(60)}},"d":{${many(60)}}}`,
        undefined,
      ],
      ['but not one that looks alike', '{"a":{"axbxc":1,"aybxc":1,"axbyc":1,"AXBXC":1,"ax":1,"a":1,"":1}}', undefined],
      ['but not a text', '{"a":{"b":"c","c":["b","b"],"d":"\\"b\\":"}}', undefined],
    ])('%s', (_, text, param) => {
      const read = () => scanObject(Buffer.from(text), LIMITS);
      if (param === undefined) expect(read).not.toThrow();
      else expect(read).toThrow(expect.objectContaining({ code: 'duplicate_parameter', param }) as GatewayError);
    });

    it('whatever the keys are', () => {
      const name = fc.stringMatching(/^[ab"\\é]{0,5}$/);
      fc.assert(
        fc.property(fc.array(name, { maxLength: 50 }), fc.nat(50), (names, around) => {
          const object = `{${names.map((key, at) => `${JSON.stringify(key)}:{"x":${at % 7 === 0 ? '{}' : at}}`).join()}}`;
          const text = `{"a":{${Array.from({ length: around }, (_, at) => `"${at}":${at}`).join()}${around ? ',' : ''}"in":${object}}}`;
          const isRepeated = new Set(names).size < names.length;
          const read = () => scanObject(Buffer.from(text), LIMITS);
          if (isRepeated) expect(read).toThrow('twice');
          else expect(read).not.toThrow();
        }),
      );
    });
  });

  it('refuses nesting beyond the limit and allows it up to there', () => {
    const nested = (levels: number) => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    expect(codeOf(nested(7), 8)).toBeUndefined();
    expect(codeOf(nested(8), 8)).toBe('body_too_deep');
    expect(codeOf(`{"a":${'['.repeat(200_000)}`, 64)).toBe('body_too_deep');
  });

  it('shows the beginning of a long key that stands twice', () => {
    const key = JSON.stringify('k'.repeat(10_000));
    try {
      scan(`{${key}:1,${key}:2}`);
      expect.unreachable();
    } catch (error) {
      const { param, message } = error as GatewayError;
      expect([param?.length, message.length].every((length) => length !== undefined && length < 300)).toBe(true);
    }
  });

  describe('limits the keys of each object and the items of each list', () => {
    const keys = (count: number) => `{${Array.from({ length: count }, (_, index) => `"k${index}":0`).join()}}`;
    const items = (count: number) => `[${Array.from({ length: count }, () => '0').join()}]`;
    const faultOf = (text: string): unknown => {
      try {
        scan(text);
        return undefined;
      } catch (error) {
        const { code, message, param } = error as GatewayError;
        return { code, message, param };
      }
    };

    it.each([
      [
        'the body itself',
        keys(50),
        keys(51),
        'too_many_keys',
        null,
        'The body has more than 50 keys (limits.json_keys).',
      ],
      [
        'a schema in a tool',
        `{"a":[],"tools":[{"t":"}],"},{},{},{"parameters":{"x":[{}],"properties":${keys(50)}}}]}`,
        `{"a":[],"tools":[{"t":"}],"},{},{},{"parameters":{"x":[{}],"properties":${keys(51)}}}]}`,
        'too_many_keys',
        'tools[3].parameters.properties',
        '`tools[3].parameters.properties` has more than 50 keys (limits.json_keys).',
      ],
      [
        'a list',
        `{"model":"m","messages":${items(50)}}`,
        `{"model":"m","messages":${items(51)}}`,
        'too_many_items',
        'messages',
        '`messages` has more than 50 items (limits.json_items).',
      ],
      [
        'a list behind an escaped key',
        `{"a":{"\\u0062\\"":[0,${items(50)}]}}`,
        `{"a":{"\\u0062\\"":[0,${items(51)}]}}`,
        'too_many_items',
        'a.b"[1]',
        '`a.b"[1]` has more than 50 items (limits.json_items).',
      ],
    ])('%s', (_, within, beyond, code, param, message) => {
      expect(codeOf(within)).toBeUndefined();
      expect(faultOf(beyond)).toEqual({ code, param, message });
    });

    it('the error shows the beginning of a long place', () => {
      const name = 'n'.repeat(10_000);
      const { param, message } = faultOf(`{"${name}":${items(51)}}`) as GatewayError;
      expect(param?.length).toBeLessThan(200);
      expect(message.length).toBeLessThan(300);
    });
  });

  it('agrees with JSON.parse on what is JSON, and on every top-level value', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), fc.nat(3), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const bytes = Buffer.from(text);
        const spans = scanTopLevel(bytes, { depth: 512, keys: 1000, items: 1000 });
        const parsed = JSON.parse(text) as Record<string, unknown>;
        expect([...spans.keys()]).toEqual(expect.arrayContaining(Object.keys(parsed)));
        for (const [key, { from, to }] of spans)
          expect(JSON.parse(bytes.toString('utf8', from, to))).toEqual(parsed[key]);
      }),
    );
  });

  it('agrees with JSON.parse on every byte at every place of a short text, wherever the body lies in memory', () => {
    const memory = Buffer.alloc(64);
    for (let length = 1; length <= 12; length += 1) {
      for (let place = 0; place < length; place += 1) {
        for (let byte = 0; byte < 0x80; byte += 1) {
          const text = `{"a":"${'x'.repeat(place)}${String.fromCharCode(byte)}${'y'.repeat(length - place - 1)}"}`;
          const bytes = memory.subarray(place % 4, (place % 4) + memory.write(text, place % 4));
          const scans = !throws(() => scanTopLevel(bytes, { depth: 2, keys: 2, items: 0 }));
          if (scans !== parses(text)) expect.unreachable(`${JSON.stringify(text)}: ${scans}`);
        }
      }
    }
  });

  it('agrees with JSON.parse on texts of escapes, control characters and characters of several bytes', () => {
    const piece = fc.constantFrom(
      '\\"',
      '\\\\',
      '\\n',
      '\\u00e9',
      '\\u12',
      '\\x',
      '"',
      '\\',
      '\n',
      '\u007f',
      'é',
      '€',
      '😀',
      'word',
      ' ',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = `{"a":"${pieces.join('')}"}`;
        expect([text, !throws(() => scan(text))]).toEqual([text, parses(text)]);
      }),
      { numRuns: runs(2000) },
    );
  });

  it('agrees with JSON.parse on scalars that run into each other', () => {
    const pieces = fc.array(fc.constantFrom('true', 'false', 'null', '0', '1', '-', '.', 'e', '"', ' '), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(pieces, (words) => {
        const text = `{"a":${words.join('')}}`;
        expect([text, codeOf(text) === undefined]).toEqual([text, parses(text)]);
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
          const code = codeOf(text, 512);
          // The changed byte may make two keys one before it makes the text no JSON: the first fault is the one that is named.
          if (parses(text)) expect(code).not.toBe('invalid_json');
          else expect(code).toBeDefined();
        },
      ),
    );
  });
});
