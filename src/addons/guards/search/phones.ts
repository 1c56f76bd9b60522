import { createRequire } from 'node:module';
import type { Rule } from './rules.ts';

type Phones = typeof import('libphonenumber-js/core');
type Country = import('libphonenumber-js/core').CountryCode;
type Data = import('libphonenumber-js/core').MetadataJson;

/** An optional peer. */
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
export function nationalPhones(countries: readonly string[]): Rule {
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
