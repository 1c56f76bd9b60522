/** Writes docs/plugins/guards-rates.md, the rates of the checks on the samples: `node test/plugins/guards-rates.ts`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { searchFor } from '../../src/addons/guards/search/index.ts';
import type { Match, TextSearch } from '../../src/addons/guards/search/text-search.ts';
import { SAMPLES, type Sample } from './guards-samples.ts';
import { ATTACKS, HARMLESS } from './injection-samples.ts';

export const PAGE = join(import.meta.dirname, '../../docs/plugins/guards-rates.md');

const KINDS: Readonly<Record<string, string>> = {
  '[EMAIL]': 'email',
  '[PHONE]': 'phone',
  '[CARD]': 'card',
  '[IBAN]': 'iban',
  '[SSN]': 'ssn',
  '[IP]': 'ip',
  '[SECRET]': 'secret',
  '://[SECRET]@': 'secret',
  '': 'injection',
};

const PII = searchFor('pii', { kinds: ['email', 'phone', 'card', 'iban', 'ssn', 'ip', 'secret'] })!;
const PHONES = searchFor('pii', {
  kinds: ['email', 'phone', 'card', 'iban', 'ssn', 'ip', 'secret'],
  countries: ['US', 'DE', 'GB', 'FR'],
})!;
const INJECTION = searchFor('injection', {})!;

interface Rate {
  samples: number;
  found: number;
  matches: number;
  wrong: number;
}

const rate = (): Rate => ({ samples: 0, found: 0, matches: 0, wrong: 0 });

function matchesIn(text: string, searches: readonly TextSearch[]): readonly Match[] {
  return searches.flatMap((search) => {
    const next = search.in(text);
    const all: Match[] = [];
    for (let match = next(0); match; match = next(match.end)) all.push(match);
    return all;
  });
}

/** A sample is found if nothing of its value is outside of matches of its kind but a few characters. */
function isFound({ kind, text, value = '' }: Sample, matches: readonly Match[]): boolean {
  const [from, to] = [text.indexOf(value), text.indexOf(value) + value.length];
  const covered = matches
    .filter(({ mask }) => KINDS[mask] === kind)
    .reduce((sum, { start, end }) => sum + Math.max(0, Math.min(end, to) - Math.max(start, from)), 0);
  // A phrase of an attack is part of its sentence.
  return kind === 'injection' ? covered > 0 : covered >= value.length - 3;
}

export interface Rates {
  readonly byKind: ReadonlyMap<string, Rate>;
  readonly byLanguage: ReadonlyMap<string, Rate>;
  readonly all: Rate;
}

export function ratesOf(samples: readonly Sample[], searches: readonly TextSearch[]): Rates {
  const byKind = new Map<string, Rate>();
  const byLanguage = new Map<string, Rate>();
  const all = rate();
  const of = (map: Map<string, Rate>, key: string): Rate => {
    let known = map.get(key);
    if (!known) map.set(key, (known = rate()));
    return known;
  };
  for (const sample of samples) {
    const { kind, language, text, value } = sample;
    const matches = matchesIn(text, searches);
    if (value !== undefined)
      for (const one of [of(byKind, kind), of(byLanguage, language), all]) {
        one.samples += 1;
        if (isFound(sample, matches)) one.found += 1;
      }
    for (const { mask, start, end } of matches) {
      const from = value === undefined ? -1 : text.indexOf(value);
      const isWrong = value === undefined || end <= from || start >= from + value.length || KINDS[mask] !== kind;
      for (const one of [of(byKind, KINDS[mask]!), of(byLanguage, language), all]) {
        one.matches += 1;
        if (isWrong) one.wrong += 1;
      }
    }
  }
  return { byKind, byLanguage, all };
}

const share = (part: number, whole: number): string => (whole === 0 ? '–' : (part / whole).toFixed(2));
const row = (name: string, { samples, found, matches, wrong }: Rate): string =>
  `| ${name} | ${samples} | ${share(found, samples)} | ${matches} | ${share(matches - wrong, matches)} |`;
const table = (head: string, rates: ReadonlyMap<string, Rate>, all: Rate): string =>
  [
    `| ${head} | samples | recall | matches | precision |`,
    '| --- | --- | --- | --- | --- |',
    ...[...rates].map(([name, one]) => row(name, one)),
    row('all', all),
  ].join('\n');

const HALF = SAMPLES.filter((sample) => sample.measured);
export const measured = ratesOf(HALF, [PII, INJECTION]);
/** Of phones, where the settings list countries. */
const phones = ratesOf(HALF, [PHONES]).byKind.get('phone')!;

const count = (has: boolean, half: boolean): number =>
  SAMPLES.filter((sample) => (sample.value !== undefined) === has && sample.measured === half).length;

/** The half of a list that measures. */
const halfOf = <T>(list: readonly T[]): readonly T[] => list.filter((_, at) => at % 2 === 1);
const foundIn = (texts: readonly string[]): number =>
  texts.filter((text) => matchesIn(text, [INJECTION]).length > 0).length;

const attacks = Object.entries(ATTACKS).map(([way, texts]) => ({ way, texts: halfOf(texts) }));
const harmless = halfOf(HARMLESS);
const attackCount = attacks.reduce((sum, { texts }) => sum + texts.length, 0);
const attacksFound = attacks.reduce((sum, { texts }) => sum + foundIn(texts), 0);
const attacksWrong = foundIn(harmless);
const attackRows = attacks.map(
  ({ way, texts }) => `| ${way} | ${texts.length} | ${share(foundIn(texts), texts.length)} |`,
);

export const page = `# The rates of guards

How much of what is in a text the checks \`pii\`, \`secrets\` and \`injection\` find, and how much of what they find is there. The
[samples](https://github.com/gatehouse-gateway/gatehouse/blob/main/test/plugins/guards-samples.ts) are 500 texts with such a value and 500 without. The rules were tuned by one half (${count(true, false)} and
${count(false, false)}); the tables are of the other half (${count(true, true)} and ${count(false, true)}). The same person wrote rules and samples, and saw the rates
of both halves: texts of others will show lower ones. A test makes the tables anew.

The values are made by a program, from forms that vendors and standards document, among them forms that no rule has: national phone numbers,
IPv6, passwords without a prefix, attacks in other words or languages. They say what the rules do with these forms, and no more: measure with texts
of your own, with \`action: observe\`, before you rely on a guard.

## By kind

Recall is the share of the samples whose value is found as this kind; precision the share of the matches of this kind that are one.

${table('kind', measured.byKind, measured.all)}
${row('phone, with `countries: [US, DE, GB, FR]`', phones)}

## By language

${table('language', measured.byLanguage, measured.all)}

## Attacks on instructions

\`injection\` has [250 samples](https://github.com/gatehouse-gateway/gatehouse/blob/main/test/plugins/injection-samples.ts) of its own: 125 attacks and 125 texts that are
none, many of them with the same words. The author of the rules wrote them by hand, and split them before the rules were tuned by one half. The table is of the other half,
${attackCount} attacks and ${harmless.length} other texts. Precision is ${share(attacksFound, attacksFound + attacksWrong)}: of ${attacksFound + attacksWrong} texts with a match, ${attacksFound} are attacks.

| way of the attack | samples | recall |
| --- | --- | --- |
${attackRows.join('\n')}
| all | ${attackCount} | ${share(attacksFound, attackCount)} |

An attacker who knows the rules writes another sentence. The check counts and warns; it is no wall.
`;

if (import.meta.main) writeFileSync(PAGE, page);
