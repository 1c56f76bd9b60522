import { randomFillSync } from 'node:crypto';

/**
 * HalfSipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF") of part of a text, with a secret of the process: who chooses
 * the texts cannot choose many with the same hash.
 */
const [k0 = 0, k1 = 0] = randomFillSync(new Int32Array(2));

/** A hash of 32 bits. */
export function keyedHash(text: string, from = 0, to = text.length): number {
  let v0 = k0;
  let v1 = k1;
  let v2 = 0x6c796765 ^ k0;
  let v3 = 0x74656462 ^ k1;
  for (let at = from; ; at += 2) {
    // Two UTF-16 units in a word; the last word has the length.
    const isLast = at >= to;
    const word = isLast ? to - from : text.charCodeAt(at) | (at + 1 < to ? text.charCodeAt(at + 1) << 16 : 0);
    v3 ^= word;
    if (isLast) v2 ^= 0xff;
    for (let round = isLast ? 4 : 1; round > 0; round -= 1) {
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
    }
    if (isLast) return v1 ^ v3;
    v0 ^= word;
  }
}
