import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { LONG_RUN, PlainText } from './plain-text.ts';
import { runs } from '../../../test/support/effort.ts';

const isPlain = (byte: number): boolean => byte >= 0x20 && byte !== 0x22 && byte !== 0x5c;

const ESCAPED = Buffer.from('"\\/bfnrt');

/** The plain twin. */
function skipOneByOne(bytes: Uint8Array, from: number): number {
  let at = from;
  for (;;) {
    if (at < bytes.length && isPlain(bytes[at]!)) at += 1;
    else if (bytes[at] === 0x5c && at + 1 < bytes.length && ESCAPED.includes(bytes[at + 1]!)) at += 2;
    else return at;
  }
}

/** Long runs of plain bytes, of one value or mixed, with any byte and any escape between them. */
const pieces = fc
  .oneof(
    {
      weight: 3,
      arbitrary: fc.tuple(fc.integer({ min: 0, max: 20_000 }), fc.constantFrom(0x20, 0x61, 0x7f, 0x80, 0xff)),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(fc.constant(1), fc.integer({ min: 0, max: 255 })),
    },
  )
  .map(([length, byte]) => Buffer.alloc(length, byte));
const escapes = fc
  .tuple(
    fc.integer({ min: 1, max: 9000 }),
    fc.constantFrom('\\n', '\\"', '\\\\', 'word\\t', '\\/\\b\\f\\r', '\\n'.repeat(8) + '\\u'),
  )
  .map(([times, text]) => Buffer.from(text.repeat(times)));
const texts = fc.array(fc.oneof(pieces, escapes), { maxLength: 12 }).map((all) => Buffer.concat(all));

/** An index that is not inside of an escape: not after a backslash. */
function outsideEscape(bytes: Uint8Array, index: number): number {
  let at = Math.min(index, bytes.length);
  while (at > 0 && bytes[at - 1] === 0x5c) at -= 1;
  return at;
}

it('The end of plain text is found as byte by byte, from any index on and in any order of runs', () => {
  fc.assert(
    fc.property(texts, fc.array(fc.nat(40_000), { maxLength: 8 }), (bytes, jumps) => {
      const text = new PlainText(bytes);
      for (const from of jumps.map((jump) => outsideEscape(bytes, jump)).toSorted((a, b) => a - b)) {
        const found = text.skip(from);
        const expected = skipOneByOne(bytes, from);
        if (found !== expected) {
          expect(found).toBeLessThan(expected);
          expect(bytes.length - found).toBeLessThan(LONG_RUN);
        }
      }
    }),
    { numRuns: runs(300) },
  );
});

it('Each byte that is not plain ends a run at each of 16 places, and no other byte does', () => {
  for (let byte = 0; byte < 256; byte += 1)
    for (let place = 0; place < 16; place += 1) {
      const bytes = Buffer.alloc(256, 0x61);
      bytes[100 + place] = byte;
      const found = new PlainText(bytes).skip(3);
      // The letter behind a backslash here ends no escape.
      if (isPlain(byte)) expect(bytes.length - found).toBeLessThan(LONG_RUN);
      else expect(found).toBe(100 + place);
    }
});

it('A backslash and its letter are plain at each of 16 places if the letter ends an escape of two characters', () => {
  for (let letter = 0; letter < 256; letter += 1)
    for (let place = 0; place < 16; place += 1) {
      const bytes = Buffer.alloc(256, 0x61);
      bytes[100 + place] = 0x5c;
      bytes[101 + place] = letter;
      const found = new PlainText(bytes).skip(3);
      if (ESCAPED.includes(letter)) expect(bytes.length - found).toBeLessThan(LONG_RUN);
      else expect(found).toBe(100 + place);
    }
});
