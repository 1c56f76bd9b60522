/**
 * Bytes as a text with one character for each byte (`latin1`). V8 joins texts without a copy and knows their length, so
 * that a message is written before its length, and each piece that recurs is a constant.
 */
export type Bytes = string;

const CHARS: readonly Bytes[] = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code));
const charOf = (code: number): Bytes => CHARS[code] ?? '';

const PLAIN = /^[\x20-\x7e]*$/;

export const utf8 = (text: string): Bytes => (PLAIN.test(text) ? text : Buffer.from(text).toString('latin1'));

/** @param value an integer. A negative one takes ten bytes, in two's complement. */
export function varint(value: number): Bytes {
  if (value >= 0 && value < 0x80) return charOf(value);
  if (value < 0) return bigVarint(BigInt.asUintN(64, BigInt(value)));
  if (value < 0x4000) return charOf((value & 0x7f) | 0x80) + charOf(value >>> 7);
  if (value <= 0xffff_ffff) return charOf((value & 0x7f) | 0x80) + varint(value >>> 7);
  return bigVarint(BigInt(value));
}

function bigVarint(value: bigint): Bytes {
  const low = Number(value & 0x7fn);
  return value < 0x80n ? charOf(low) : charOf(low | 0x80) + bigVarint(value >> 7n);
}

/** A field whose content has its length before it: a message, a text, bytes. */
export const delimited = (tag: Bytes, content: Bytes): Bytes => tag + varint(content.length) + content;

const DOUBLE = new Float64Array(1);
const DOUBLE_BYTES = Buffer.from(DOUBLE.buffer);

/** Little-endian, as all machines that Node supports are, apart from s390x. */
export function double(value: number): Bytes {
  DOUBLE[0] = value;
  return DOUBLE_BYTES.toString('latin1');
}

export const fixed32 = (value: number): Bytes =>
  String.fromCharCode(value & 0xff, (value >>> 8) & 0xff, (value >>> 16) & 0xff, value >>> 24);

/** The factor of 1e9 that is no power of two, so that products with seconds stay exact. */
const ODD_NANOS = 1_953_125;

/** Nanoseconds since 1970 as 64 bits, little-endian. @param nanos rounded, may be 1e9 */
export function fixedTime(seconds: number, nanos: number): Bytes {
  // seconds × 1e9 = seconds × 1,953,125 × 2^9, of which the lower 23 bits stay below 2^32 after the shift.
  const odd = seconds * ODD_NANOS;
  const upper = Math.floor(odd / 0x80_0000);
  const low = (odd - upper * 0x80_0000) * 0x200 + nanos;
  return low < 0x1_0000_0000 ? fixed32(low) + fixed32(upper) : fixed32(low - 0x1_0000_0000) + fixed32(upper + 1);
}
