import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fixedTime, varint } from './protobuf.ts';

const bytesOf = (bytes: string): Buffer => Buffer.from(bytes, 'latin1');

/** As the specification describes it: groups of seven bits, the lowest first. */
function plainVarint(value: bigint): number[] {
  const group = Number(value & 0x7fn);
  return value < 0x80n ? [group] : [group | 0x80, ...plainVarint(value >> 7n)];
}

describe('protobuf', () => {
  it('writes integers as varints, negative ones in two’s complement', () => {
    const integer = fc.oneof(
      fc.maxSafeInteger(),
      fc.integer(),
      fc.nat(20_000),
      fc.constantFrom(0, -0, 0x7f, 0x80, 2 ** 62),
    );
    fc.assert(
      fc.property(integer, (value) => {
        expect([...bytesOf(varint(value))]).toEqual(plainVarint(BigInt.asUintN(64, BigInt(value))));
      }),
    );
  });

  it('writes times of any year until 2500 exactly', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_600_000_000 }), fc.integer({ min: 0, max: 1e9 }), (seconds, nanos) => {
        expect(bytesOf(fixedTime(seconds, nanos)).readBigUInt64LE()).toBe(
          BigInt(seconds) * 1_000_000_000n + BigInt(nanos),
        );
      }),
    );
  });
});
