const NUMBER = String.raw`(\d[\d,_]*)`;
const digits = (text: string): string => text.replaceAll(/[,_]/g, '');

const THOUSANDS: Readonly<Record<string, number>> = { '': 1, k: 1_000, m: 1_000_000 };
const count = (text: string, unit: string): string =>
  String(Number(digits(text)) * (THOUSANDS[unit.toLowerCase()] ?? 1));

const PER: Readonly<Record<string, string>> = { s: 's', m: 'min', h: 'h' };
const UNIT = '(s|sec|seconds?|m|mins?|minutes?|h|hrs?|hours?)';

/** How people and other tools write an amount, and how the settings write it. */
const REWRITES: readonly (readonly [notation: RegExp, write: (...parts: string[]) => string])[] = [
  [new RegExp(String.raw`^\$ ?${NUMBER}$`), (amount = '') => `${digits(amount)} USD`],
  [new RegExp(String.raw`^${NUMBER} ?(?:usd|dollars?|\$)$`, 'i'), (amount = '') => `${digits(amount)} USD`],
  [new RegExp(`^${NUMBER} ?([km]?) ?tokens?$`, 'i'), (amount = '', unit = '') => `${count(amount, unit)} tokens`],
  [
    new RegExp(`^${NUMBER} ?([km]?) ?(?:/|per) ?${UNIT}$`, 'i'),
    (amount = '', unit = '', per = '') => `${count(amount, unit)}/${PER[per.charAt(0).toLowerCase()]}`,
  ],
  [/^(\d+) ?([kmg])i?b$/i, (amount, unit = '') => `${amount}${unit.toUpperCase()}iB`],
  [/^(\d+) ?d(?:ays?)?$/i, (days) => `${Number(days) * 24}h`],
  [new RegExp(`^(\\d+) ?${UNIT}$`, 'i'), (amount, unit = '') => `${amount}${unit.charAt(0).toLowerCase()}`],
  [/^daily$/i, () => '24h'],
  [/^hourly$/i, () => '1h'],
  // An origin, as browsers send it, ends without a slash.
  [/^(https?:\/\/[^/]+)\/$/, (origin = '') => origin],
  // A host that is named without its port.
  [/^([\w.-]+):\d{1,5}$/, (host = '') => host],
  // Methods of HTTP.
  [/^([a-z]+)$/, (word = '') => word.toUpperCase()],
];

/** `text` in the notation of `pattern`, a regular expression of a schema. Undefined: no rewrite of it matches. */
export function inNotationOf(pattern: string, text: string): string | undefined {
  const wanted = new RegExp(pattern, 'u');
  for (const [notation, write] of REWRITES) {
    const found = notation.exec(text);
    const rewritten = found && write(...found.slice(1));
    if (rewritten && wanted.test(rewritten)) return rewritten;
  }
  return undefined;
}

/** Why a text cannot be what `wanted` shows, where the examples alone do not say it. */
const REASONS: readonly (readonly [wanted: RegExp, text: RegExp, reason: string])[] = [
  [/\/min"/, /\/ ?(?:d|days?|w|weeks?|months?)$/i, 'the time of a rate is s, min or h'],
  [/\/min"/, /^0+ ?\//, 'a rate is at least 1; `disabled: true` refuses every request of a key'],
  [/ USD"/, /€|\b(?:eur|gbp|chf|jpy)\b/i, 'amounts are in USD'],
  [/ USD"/, /\.\d{10,} USD$/, 'USD have at most nine decimals'],
  [/^"\//, /^[^/]/, 'the path must be absolute'],
  [/^"env" or "http/, /^socks/i, 'only proxies for HTTP are supported'],
];

/** @param wanted the examples of the schema, as a message shows them */
export const reasonAgainst = (wanted: string, text: string): string | undefined =>
  REASONS.find(([example, found]) => example.test(wanted) && found.test(text))?.[2];
