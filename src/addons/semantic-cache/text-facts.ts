import type { TextFacts } from '../../core/kernel/index.ts';
import { FUNCTION_WORDS, hasPolarity, isNumberWord, OPENERS } from './word-lists.ts';

/** Numbers with their sign, separators and symbols, ends of sentences, and words with inner apostrophes, hyphens and dots. */
const TOKENS =
  /(?<number>[-+−±<>≤≥]?\p{Sc}?\p{N}+(?:[.,:/⁄'’_^-]\p{N}+)*(?:\s?(?:%|‰|°|\p{Sc}))?)|(?<end>[.!?:;\n]+(?=\s|$)|^[ \t]*[-*•]\s|["“”«»])|(?<word>[\p{L}\p{M}\p{N}]+(?:['’._@/+#&-]*[\p{L}\p{M}\p{N}+#]+)*)|(?<symbol>[+×÷=<>≤≥≠%°\p{Sc}√∑∫])/gmu;

const WITH_DIGIT = /\p{N}/u;
/** A capital letter, at the start or inside: `Rome`, `iPhone`, `NATO`. */
const CAPITAL = /\p{Lu}/u;
const INNER_CAPITAL = /.\p{Lu}/u;

/** The facts that decide whether a reply serves two texts. A doubtful word counts: mistakes may only cost hits. */
export function factsOf(text: string): TextFacts {
  const numbers: string[] = [];
  const polarity: string[] = [];
  const names: string[] = [];
  const words: string[] = [];
  let opens = true;
  for (const { groups = {} } of text.normalize('NFKC').matchAll(TOKENS)) {
    const { number, end, word, symbol } = groups;
    if (number !== undefined) numbers.push(number.replace(/\s/g, ''));
    else if (symbol !== undefined) numbers.push(symbol);
    else if (end !== undefined) opens = true;
    if (word === undefined) {
      if (end === undefined) opens = false;
      continue;
    }
    const plain = word.toLowerCase();
    if (WITH_DIGIT.test(word) || isNumberWord(plain)) numbers.push(plain);
    if (hasPolarity(plain)) polarity.push(plain);
    if (isName(word, plain, opens)) names.push(word);
    else if (!FUNCTION_WORDS.has(plain)) words.push(plain);
    opens = false;
  }
  return {
    numbers: numbers.join(' '),
    polarity: polarity.toSorted().join(' '),
    names: names.toSorted().join(' '),
    words: words.join(' '),
  };
}

function isName(word: string, plain: string, opens: boolean): boolean {
  if (!CAPITAL.test(word)) return false;
  // "I" in the middle of a sentence, with its verbs.
  if (/^i(?:['’]\p{L}+)?$/u.test(plain)) return false;
  return !opens || INNER_CAPITAL.test(word) || !OPENERS.has(plain.replace(/['’].*$/, ''));
}

const EQUAL = ['numbers', 'polarity', 'names'] as const;

/** The first of the facts that must be equal in which two texts differ: three comparisons of strings. */
export const unequalFact = (one: TextFacts, other: TextFacts): keyof TextFacts | undefined =>
  EQUAL.find((fact) => one[fact] !== other[fact]);

/** Whether the words that both texts have come in the same order. Reads both texts, so it is for near ones only. */
export function inSameOrder(one: TextFacts, other: TextFacts): boolean {
  const [words, others] = [new Set(one.words.split(' ')), new Set(other.words.split(' '))];
  const shared = (of: ReadonlySet<string>, by: ReadonlySet<string>): string =>
    [...of].filter((word) => by.has(word)).join(' ');
  return shared(words, others) === shared(others, words);
}
