import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ReplyFault } from '../faults.ts';
import { PartialArguments } from './partial-call.ts';
import { argumentPieces } from './stream.testkit.ts';

function assemble(...pieces: object[]): unknown {
  const args = new PartialArguments(undefined);
  for (const piece of pieces) args.add({ ...piece });
  return JSON.parse(args.toJson());
}

describe('arguments that arrive in pieces', () => {
  it.each([
    ['nothing', [], {}],
    ['a number', [{ jsonPath: '$.a', numberValue: 1.5 }], { a: 1.5 }],
    ['false', [{ jsonPath: '$.a', boolValue: false }], { a: false }],
    ['null', [{ jsonPath: '$.a', nullValue: 'NULL_VALUE' }], { a: null }],
    ['an empty string, which protobuf leaves out', [{ jsonPath: '$.a' }], { a: '' }],
    [
      'a growing string',
      [
        { jsonPath: '$.a', stringValue: 'x', willContinue: true },
        { jsonPath: '$.a', stringValue: 'y', willContinue: true },
        { jsonPath: '$.a', stringValue: '' },
      ],
      { a: 'xy' },
    ],
    [
      'a string said anew',
      [
        { jsonPath: '$.a', stringValue: 'x' },
        { jsonPath: '$.a', stringValue: 'y' },
      ],
      { a: 'y' },
    ],
    [
      'objects in arrays',
      [
        { jsonPath: '$.a[0].b', numberValue: 1 },
        { jsonPath: '$.a[0].c', numberValue: 2 },
        { jsonPath: '$.a[1].b', numberValue: 3 },
      ],
      { a: [{ b: 1, c: 2 }, { b: 3 }] },
    ],
    [
      'arrays in arrays',
      [
        { jsonPath: '$.a[0][0]', numberValue: 1 },
        { jsonPath: '$.a[0][1]', numberValue: 2 },
      ],
      { a: [[1, 2]] },
    ],
    ['a name in quotes with escapes', [{ jsonPath: "$['a\\'b'][\"c'd\"]", numberValue: 1 }], { "a'b": { "c'd": 1 } }],
    [
      'pieces beside one another, below and above',
      [
        { jsonPath: '$.a.b.c', numberValue: 1 },
        { jsonPath: '$.a.b.d.e', numberValue: 2 },
        { jsonPath: '$.a.b.d.f', numberValue: 3 },
        { jsonPath: '$.a.bb', numberValue: 4 },
        { jsonPath: '$.a.b.g', numberValue: 5 },
        { jsonPath: '$.h', numberValue: 6 },
        { jsonPath: '.a.i.j', numberValue: 7 },
        { jsonPath: '.a.i.k', numberValue: 8 },
      ],
      { a: { b: { c: 1, d: { e: 2, f: 3 }, g: 5 }, bb: 4, i: { j: 7, k: 8 } }, h: 6 },
    ],
    [
      'quoted names',
      [
        { jsonPath: "$['a b']['c\\'d']", numberValue: 1 },
        { jsonPath: '$["e.f"]', numberValue: 2 },
      ],
      { 'a b': { "c'd": 1 }, 'e.f': 2 },
    ],
  ])('%s', (_, pieces, args) => {
    expect(assemble(...pieces)).toEqual(args);
  });

  it('may be named __proto__', () => {
    const args = new PartialArguments(undefined);
    args.add({ jsonPath: '$.__proto__.polluted', boolValue: true });
    expect(args.toJson()).toBe('{"__proto__":{"polluted":true}}');
    expect('polluted' in {}).toBe(false);
  });

  it.each(['$.a.__proto__.polluted', '$.constructor.prototype.polluted'])(
    'reach no prototype by the path %s below arguments that arrived whole',
    (jsonPath) => {
      const args = new PartialArguments({ a: {}, constructor: {} });
      args.add({ jsonPath, stringValue: 'x' });
      expect('polluted' in {}).toBe(false);
      expect(args.toJson()).toContain('"polluted":"x"');
    },
  );

  it('may be set under __proto__ of an object that arrived whole', () => {
    const args = new PartialArguments({ a: {} });
    args.add({ jsonPath: "$['a']['__proto__']", numberValue: 1 });
    expect(args.toJson()).toBe('{"a":{"__proto__":1}}');
  });

  it('may have a name of millions of characters', () => {
    const name = 'a'.repeat(17_000_000);
    expect(() => assemble({ jsonPath: `$['${name}']`, numberValue: 1 })).not.toThrow();
  });

  it.each(['$.a[99999999]', '$.a[', '$..a', '$.a[x]', '$.a[0', "$['a", "$['a'", "$['a\\']"])(
    'the path %s is refused',
    (jsonPath) => {
      expect(() => assemble({ jsonPath, numberValue: 1 })).toThrow(ReplyFault);
    },
  );

  it('a path of more levels than JSON can be written with is refused, and so are two paths that add up to it', () => {
    const path = (levels: number) => `$${'.a'.repeat(levels)}`;
    expect(() => assemble({ jsonPath: path(1000), numberValue: 1 })).not.toThrow();
    expect(() => assemble({ jsonPath: path(5000), numberValue: 1 })).toThrow(ReplyFault);
    expect(() =>
      assemble(
        { jsonPath: path(900), numberValue: 1 },
        { jsonPath: `${path(899)}.b${path(900).slice(1)}`, numberValue: 1 },
      ),
    ).toThrow(ReplyFault);
  });

  it('a path through a value is refused', () => {
    expect(() => assemble({ jsonPath: '$.a', numberValue: 1 }, { jsonPath: '$.a.b', numberValue: 1 })).toThrow(
      ReplyFault,
    );
  });

  it('any object survives a split into pieces, with any cut of its strings', () => {
    const leaf = fc.oneof(
      fc.string(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
      fc.boolean(),
      fc.constant(null),
    );
    const name = fc.string({ minLength: 1, maxLength: 6 });
    const tree = fc.letrec<{ node: unknown }>((tie) => ({
      node: fc.oneof(
        { depthSize: 'small' },
        leaf,
        fc.array(tie('node'), { minLength: 1, maxLength: 3 }),
        fc.dictionary(name, tie('node'), { minKeys: 1, maxKeys: 3 }),
      ),
    })).node;
    fc.assert(
      fc.property(fc.dictionary(name, tree, { maxKeys: 3 }), (args) => {
        expect(assemble(...argumentPieces(args, '$')!)).toEqual(JSON.parse(JSON.stringify(args)));
      }),
    );
  });
});
