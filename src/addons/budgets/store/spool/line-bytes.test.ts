import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { LineBytes } from './line-bytes.ts';

const ascii = fc.string({ unit: 'grapheme-ascii' });
const piece = fc.oneof(
  fc.record({
    number: fc.oneof(
      fc.maxSafeInteger(),
      fc.integer(),
      fc.double(),
      fc.bigInt(0n, 60n).map((n) => 2 ** Number(n)),
    ),
  }),
  fc.record({ ascii }),
  fc.record({ text: fc.string({ unit: 'grapheme', maxLength: 40 }) }),
  fc.record({ copy: ascii }),
);

it('Numbers and texts are the bytes that JSON has for them', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), fc.nat(70_000), (pieces, before) => {
      const to = new LineBytes();
      const start = 'x'.repeat(before);
      to.ascii(start);
      let text = start;
      for (const one of pieces)
        if ('number' in one) {
          to.number(one.number);
          text += JSON.stringify(one.number);
        } else if ('ascii' in one) {
          to.ascii(one.ascii);
          text += one.ascii;
        } else if ('text' in one) {
          to.text(one.text);
          text += one.text;
        } else {
          to.copy(Buffer.from(one.copy));
          text += one.copy;
        }
      expect([to.toString(), to.length]).toEqual([text, Buffer.byteLength(text)]);
    }),
  );
});

it('A buffer that a burst has made large is not kept', () => {
  const to = new LineBytes();
  to.ascii('x'.repeat(3_000_000));
  expect(to.bytes.length).toBeGreaterThanOrEqual(3_000_000);
  to.clear();
  to.number(7);
  expect([to.bytes.length, to.toString()]).toEqual([65_536, '7']);
});

it.each([0, 9, 10, 99, 100, 99_999_999, 100_000_000, 1_700_000_000_123, Number.MAX_SAFE_INTEGER])(
  '%d has its digits',
  (n) => {
    const to = new LineBytes();
    to.number(n);
    to.number(-n);
    expect(to.toString()).toBe(`${n}${-n}`);
  },
);
