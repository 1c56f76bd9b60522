/** What the lists of hostile replies (replies-*.ts) share. */

/** A reply of one shape, of about so many bytes. */
export interface ReplyShape {
  readonly name: string;
  readonly stream: boolean;
  readonly build: (bytes: number) => Buffer;
  /** How the bytes are cut into reads. Default: 1 KB each. */
  readonly cut?: number;
}

/** `unit(0)`, `unit(1)` … until they have so many bytes together. */
export function fill(bytes: number, unit: (at: number) => string): string[] {
  const units: string[] = [];
  for (let length = 0; length < bytes;) {
    const next = unit(units.length);
    units.push(next);
    length += next.length;
  }
  return units;
}

export const list = (items: readonly string[]): string => `[${items.join(',')}]`;

/** `"k0":1,"k1":1` …: as many different keys as fit. */
export const keys = (bytes: number, prefix = 'k'): string => fill(bytes, (at) => `"${prefix}${at}":1`).join(',');

/** The same key again and again. */
export const sameKeys = (bytes: number): string => fill(bytes, () => '"same":1').join(',');

export const deep = (bytes: number): string => {
  const half = Math.floor(bytes / 2);
  return `${'['.repeat(half)}${']'.repeat(half)}`;
};

/** Half the levels of what ends the stack, all others beside. */
export const wide = (bytes: number): string => list(fill(bytes, () => deep(200)));

/** A string of nothing but escapes. */
export const escapes = (bytes: number): string => `"${String.raw`\u0041\n\"\\`.repeat(Math.ceil(bytes / 12))}"`;

export const longNumbers = (bytes: number): string => list(fill(bytes, (at) => `12345678901234567${at % 10}`));

export const letters = (bytes: number, letter = 'a'): string => letter.repeat(bytes);

/** Reads of `size` bytes. */
export function cutInto(bytes: Buffer, size: number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let from = 0; from < bytes.length; from += size) pieces.push(bytes.subarray(from, from + size));
  return pieces;
}
