import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addPiece } from '../../formats/json/piece-list.ts';

describe('a list of pieces', () => {
  it('has the same bytes however they are cut', () => {
    const sizes = fc.array(fc.oneof(fc.integer({ min: 0, max: 9 }), fc.constantFrom(100, 4095, 4096, 9000)), {
      maxLength: 400,
    });
    fc.assert(
      fc.property(sizes, (lengths) => {
        const whole = Buffer.from(
          Array.from({ length: lengths.reduce((sum, one) => sum + one, 0) }, (_, at) => at % 251),
        );
        const pieces: Buffer[] = [];
        let at = 0;
        for (const length of lengths) addPiece(pieces, whole.subarray(at, (at += length)));
        expect(Buffer.concat(pieces).equals(whole)).toBe(true);
      }),
    );
  });

  it('has few of them, also where a client sends single bytes', () => {
    const pieces: Buffer[] = [];
    for (let at = 0; at < 100_000; at += 1) addPiece(pieces, Buffer.from('x'));
    expect(pieces.length).toBeLessThan(100_000 / 4096 + 64);
    const mixed: Buffer[] = [];
    for (let at = 0; at < 100_000; at += 1) addPiece(mixed, Buffer.alloc(at % 100 === 0 ? 4096 : 1));
    expect(mixed.length).toBeLessThan(100_000);
  });
});
