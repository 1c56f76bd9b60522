/**
 * Nano-USD and, for the price of a unit, pico-USD as safe integers (9 million USD), so that sums are exact: 0.01875 USD
 * per million tokens are 18,750 pico-USD per token.
 */
export type Nano = number;
export type Pico = number;

const NANO_PER_USD = 1_000_000_000;
const PICO_PER_NANO = 1000;

/** A positive factor on prices: 1.1 is 11/10. */
export interface Fraction {
  readonly num: number;
  readonly den: number;
}

export const ONE: Fraction = { num: 1, den: 1 };

/** Decimals of a number of units that count. */
const UNIT_DECIMALS = 1000;

/** Decimals of a factor that count. */
const FACTOR_UNIT = 1_000_000;

export function fractionOf(factor: number): Fraction {
  const num = Math.round(factor * FACTOR_UNIT);
  const common = divisor(num, FACTOR_UNIT);
  return { num: num / common, den: FACTOR_UNIT / common };
}

export const times = (one: Fraction, other: Fraction): Fraction =>
  one === ONE ? other : other === ONE ? one : { num: one.num * other.num, den: one.den * other.den };

function divisor(one: number, other: number): number {
  return other === 0 ? one : divisor(other, one % other);
}

/** The price of one unit, where `per` cost `usd`. Undefined for a price that is no integer of pico-USD. */
export function picoOf(usd: number, per: number): Pico | undefined {
  const exact = (usd * 1e12) / per;
  const pico = Math.round(exact);
  return Number.isSafeInteger(pico) && Math.abs(exact - pico) < 1e-3 ? pico : undefined;
}

export const usdOf = (price: Pico, per: number): number => Number(((price * per) / 1e12).toPrecision(15));

/** `units × price × factor`, rounded half up. Units may have decimals: seconds of sound. */
export function nanoOf(units: number, price: Pico, { num, den }: Fraction): Nano {
  if (!Number.isInteger(units))
    return nanoOf(Math.round(units * UNIT_DECIMALS), price, { num, den: den * UNIT_DECIMALS });
  const amount = units * price * num;
  const divided = PICO_PER_NANO * den;
  if (!Number.isSafeInteger(amount)) return bigNanoOf(units, price, num, divided);
  const rest = amount % divided;
  return (amount - rest) / divided + (rest * 2 >= divided ? 1 : 0);
}

function bigNanoOf(units: number, price: Pico, num: number, divided: number): Nano {
  const amount = BigInt(units) * BigInt(price) * BigInt(num);
  return Math.min(Number((amount + BigInt(divided) / 2n) / BigInt(divided)), Number.MAX_SAFE_INTEGER);
}

/** `0.0175`: USD without rounding. */
export function usdText(nano: Nano): string {
  const rest = String(nano % NANO_PER_USD).padStart(9, '0');
  return `${Math.floor(nano / NANO_PER_USD)}.${rest}`.replace(/\.?0+$/, '');
}

/** The cost of a row in USD; adjustments may give back. */
export const costText = (nano: Nano): string => (nano < 0 ? `-${usdText(-nano)}` : usdText(nano));
