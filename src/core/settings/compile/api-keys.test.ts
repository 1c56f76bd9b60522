import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { generateKey, isWellFormedKey, digestOf } from './api-keys.ts';

const fixed = generateKey((size) => Buffer.alloc(size, 7));

describe('generateKey', () => {
  test('returns a key of prefix, id, secret and checksum', () => {
    expect(fixed.key).toMatch(/^gatehouse_h{12}_[A-Za-z0-9_-]{43}[0-9a-f]{6}$/);
    expect(fixed.digest).toBe(digestOf(fixed.key));
    expect(fixed.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  test('uses 32 random bytes for the secret', () => {
    const sizes: number[] = [];
    generateKey((size) => {
      sizes.push(size);
      return Buffer.alloc(size);
    });
    expect(sizes).toContain(32);
  });

  test('returns a different, well-formed key each time', () => {
    const keys = Array.from({ length: 50 }, () => generateKey().key);
    expect(new Set(keys).size).toBe(50);
    expect(keys.every(isWellFormedKey)).toBe(true);
  });
});

describe('isWellFormedKey', () => {
  test('refuses a key with any one character changed', () => {
    fc.assert(
      fc.property(fc.nat(fixed.key.length - 1), fc.constantFrom(...'abcXYZ019-_'), (at, other) => {
        fc.pre(fixed.key[at] !== other);
        expect(isWellFormedKey(fixed.key.slice(0, at) + other + fixed.key.slice(at + 1))).toBe(false);
      }),
    );
  });

  test.each(['', 'gatehouse-demo-key', fixed.key.slice(0, -1), `${fixed.key}\n`, ` ${fixed.key}`, fixed.digest])(
    'refuses %.12j…',
    (text) => {
      expect(isWellFormedKey(text)).toBe(false);
    },
  );
});
