import type { Cap, Rate } from './tree.ts';

export type { Cap, Rate };

/** A safe integer of nano-USD holds 9.007 million USD. Tokens have the same bound as a number. */
export const LARGEST_CAP = 9_000_000_000_000_000;

const CAP = /^([0-9]+)(?:\.([0-9]{1,9}))? (USD|tokens)$/;
const NANO_DIGITS = 9;

/**
 * `500 USD`, `2000000 tokens`. Throws RangeError for other texts, which the schema has rejected, and for amounts that no budget
 * can hold: more than 9 million USD, parts of a token.
 */
export function parseCap(text: string): Cap {
  const [, whole, decimals, unit] = CAP.exec(text) ?? [];
  if (whole === undefined) throw new RangeError(`cannot read ${JSON.stringify(text)}`);
  if (unit === 'tokens') {
    if (decimals !== undefined) throw new RangeError('tokens are whole numbers');
    return { unit: 'tokens', amount: within(Number(whole), '9000000000000000 tokens') };
  }
  // The digits as text: no rounding of binary fractions.
  const amount = Number(whole + (decimals ?? '').padEnd(NANO_DIGITS, '0'));
  return { unit: 'usd', amount: within(amount, '9000000 USD') };
}

function within(amount: number, most: string): number {
  if (amount > LARGEST_CAP) throw new RangeError(`a cap is at most ${most}`);
  return amount;
}

const RATE = /^([0-9]+)\/(s|min|h)$/;
const RATE_MS: Readonly<Record<string, number>> = { s: 1000, min: 60_000, h: 3_600_000 };

/** `600/min`. Throws RangeError for other texts, which the schema has rejected. */
export function parseRate(text: string): Rate {
  const [, count, per] = RATE.exec(text) ?? [];
  if (count === undefined || per === undefined) throw new RangeError(`cannot read ${JSON.stringify(text)}`);
  return { count: Number(count), perMs: RATE_MS[per]! };
}
