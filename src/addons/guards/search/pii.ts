import type { PII_KINDS } from '../settings/check-options.ts';
import { searchRules, type Rule } from './rules.ts';
import { searchSecrets } from './secrets.ts';
import { searchAll, type TextSearch } from './text-search.ts';
import { createRequire } from 'node:module';

export type PiiKind = (typeof PII_KINDS)[number];

// In the patterns a look behind stands after the first character: the engine then skips all others at once.

/** The pattern begins at the `@`, which is rare, and the name is read backwards from there. */
const EMAIL: Rule = {
  pattern: /@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})\.){1,4}[A-Za-z]{2,24}(?![\w-])/,
  mask: '[EMAIL]',
  longest: 64 + 1 + 4 * 64 + 24,
  of: /[\w.@+-]/,
  needs: /@/,
  startOf(text, found, from) {
    let start = found;
    const least = Math.max(from, found - 64);
    while (start > least && NAME.test(text[start - 1]!)) start -= 1;
    const isWhole = start === 0 || !NAME.test(text[start - 1]!);
    return isWhole && start < found && /\w/.test(text[start]!) ? start : undefined;
  },
};
const NAME = /[\w.+-]/;

/** International form, by E.164 at most 15 digits. National forms are those of `countries`. */
const PHONE: Rule = {
  pattern: /\+(?<![\w+]\+)[1-9](?:[ ().\u00a0-]{0,2}\d){6,14}(?!\w)/,
  mask: '[PHONE]',
  longest: 3 + 14 * 3,
  of: /[\d +().\u00a0-]/,
  needs: /\+[1-9]/,
  isMatch: (found) => between(digitsOf(found).length, 8, 15),
};

const CARD: Rule = {
  pattern: /\d(?<![\w.-]\d)(?:[ -]?\d){12,18}(?![\w-])/,
  mask: '[CARD]',
  longest: 37,
  of: /[\d -]/,
  needs: /\d[ -]?\d[ -]?\d[ -]?\d/,
  isMatch(found) {
    const digits = digitsOf(found);
    return CARD_NUMBERS.test(digits) && hasLuhn(digits);
  },
};

/** Prefixes and lengths of the large networks: Visa, Mastercard, American Express, Diners, JCB, and those that begin with 6. */
const CARD_NUMBERS =
  /^(?:4(?:\d{12}|\d{15}|\d{18})|5[0-9]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}|35\d{14,17}|6\d{15,18})$/;

const IBAN: Rule = {
  pattern: /[A-Z](?<![A-Za-z0-9][A-Z])[A-Z]\d{2}(?: ?[A-Z0-9]){11,30}(?![A-Za-z0-9])/,
  mask: '[IBAN]',
  longest: 4 + 30 * 2,
  of: /[A-Z0-9 ]/,
  needs: /[A-Z]{2}\d{2}/,
  isMatch: (found) => hasMod97(found.replaceAll(' ', '')),
};

/** A social security number of the United States: no area 000, 666 or 9xx, no group 00, no serial 0000. */
const SSN: Rule = {
  pattern: /\d(?<![\w-]\d)(?<!9)\d{2}(?<!000|666)-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])/,
  mask: '[SSN]',
  longest: 11,
  of: /[\d-]/,
  needs: /\d-\d\d-\d/,
};

/** An IPv4 address outside the ranges that name no host of a person: loopback, private, documentation, unspecified. */
const IP: Rule = {
  pattern: /\d(?<![\w.]\d)\d{0,2}\.(?:\d{1,3}\.){2}\d{1,3}(?![\w.]|\.\d)/,
  mask: '[IP]',
  longest: 15,
  of: /[\d.]/,
  needs: /\d\.\d/,
  isMatch: (found) =>
    found.split('.').every((part) => Number(part) <= 255 && !/^0\d/.test(part)) &&
    !/^(?:0\.|10\.|127\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.|192\.0\.2\.|198\.51\.100\.|203\.0\.113\.|22[4-9]\.|2[3-5]\d\.)/.test(
      found,
    ),
};

const RULES: Readonly<Partial<Record<PiiKind, Rule>>> = {
  email: EMAIL,
  phone: PHONE,
  card: CARD,
  iban: IBAN,
  ssn: SSN,
  ip: IP,
};

export const searchPii = (kinds: readonly PiiKind[], countries: readonly string[] = []): TextSearch =>
  searchAll([
    searchRules(kinds.flatMap((kind) => RULES[kind] ?? [])),
    ...(kinds.includes('phone') && countries.length > 0 ? [searchRules([nationalPhones(countries)])] : []),
    ...(kinds.includes('secret') ? [searchSecrets()] : []),
  ]);

const digitsOf = (text: string): string => text.replaceAll(/\D/g, '');

const between = (value: number, least: number, most: number): boolean => value >= least && value <= most;

/** ISO/IEC 7812-1, annex B. */
function hasLuhn(digits: string): boolean {
  let sum = 0;
  for (const [index, digit] of [...digits].toReversed().entries()) {
    const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0 && !/^(\d)\1*$/.test(digits);
}

/** ISO 13616: the remainder by 97 is 1, with the first four characters at the end and letters as 10 to 35. */
function hasMod97(iban: string): boolean {
  if (!between(iban.length, 15, 34)) return false;
  let rest = 0;
  for (let at = 0; at < iban.length; at += 1) {
    const code = iban.charCodeAt((at + 4) % iban.length);
    rest = code < 65 ? (rest * 10 + code - 48) % 97 : (rest * 100 + code - 55) % 97;
  }
  return rest === 1;
}

type Phones = typeof import('libphonenumber-js/core');
type Country = import('libphonenumber-js/core').CountryCode;
type Data = import('libphonenumber-js/core').MetadataJson;

const load = createRequire(import.meta.url);

/** The rules of a country for its numbers. The library has them, and its types have not. */
interface NumberingPlan {
  nationalPrefix(): string | undefined;
  type(name: string): { pattern(): string } | undefined;
}

const KINDS = ['FIXED_LINE', 'MOBILE', 'TOLL_FREE', 'PREMIUM_RATE', 'SHARED_COST', 'VOIP', 'PERSONAL_NUMBER', 'UAN'];

const isKnown = (country: string, { isSupportedCountry }: Phones, data: Data): country is Country =>
  isSupportedCountry(country as Country, data);

/** One pattern for all numbers of a country: a call of the library takes 40 µs, and callers choose how many numbers a text has. */
function numbersOf(country: string, phones: Phones, data: Data): readonly string[] {
  if (!isKnown(country, phones, data)) return [];
  const metadata = new phones.Metadata(data);
  metadata.selectNumberingPlan(country);
  const plan = metadata.numberingPlan as unknown as NumberingPlan;
  const patterns = KINDS.flatMap((kind) => plan.type(kind)?.pattern() ?? []);
  const prefix = plan.nationalPrefix();
  return [`${prefix === undefined ? '' : `(?:${prefix})?`}(?:${patterns.join('|')})`];
}

/** Numbers as people of these countries write them for each other. */
function nationalPhones(countries: readonly string[]): Rule {
  // A search is made synchronously, at its first use.
  const phones = load('libphonenumber-js/core') as Phones;
  const data = load('libphonenumber-js/metadata.max.json') as Data;
  const patterns = countries.flatMap((country) => numbersOf(country, phones, data));
  const isNumber = new RegExp(`^(?:${patterns.join('|')})$`);
  return {
    // A part of a longer run of digits is no phone.
    pattern: /[\d(](?<![\w.+-][\d(])(?<!\d[ ()./-]{1,2}[\d(])(?:[ ()./-]{0,2}\d){5,14}(?![ ()./-]{0,2}\d|[\w-])/,
    mask: '[PHONE]',
    longest: 1 + 14 * 3 + 3,
    of: /[\d ()./-]/,
    needs: /\d[ ()./-]{0,2}\d[ ()./-]{0,2}\d/,
    isMatch: (found) => isWritten(found) && isNumber.test(found.replaceAll(/\D/g, '')),
  };
}

/** With the zero or the bracket of an area, or in groups: another run of digits is an id, or a date. */
const isWritten = (found: string): boolean =>
  /^[(0]/.test(found) || (/^\d{1,4}(?:[ -]\d{2,4}){2,4}$/.test(found) && !/^\d{4}-\d\d-\d\d$/.test(found));
