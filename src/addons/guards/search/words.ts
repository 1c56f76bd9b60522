import { searchOf } from './rules.ts';
import type { TextSearch } from './text-search.ts';

/** Whole words and phrases in any case. White space of a phrase stands for one white space of any kind. */
export function searchWords(words: readonly string[], mask: string): TextSearch {
  const sources = words.map((word) => word.trim().split(/\s+/u).map(escaped).join('\\s'));
  // Longer ones first: of two words, one the start of the other, the longer one is found.
  const alternatives = [...new Set(sources)].toSorted((one, other) => other.length - one.length).join('|');
  const characters = [...new Set(words.join(''))].filter((character) => !/\s/u.test(character));
  return searchOf([
    {
      pattern: new RegExp(`(?<![\\p{L}\\p{N}_])(?:${alternatives})(?![\\p{L}\\p{N}_])`, 'iu'),
      mask,
      // A letter may match one of two units.
      longest: 2 * Math.max(...words.map((word) => word.length)),
      of: new RegExp(`[\\s${characters.map(inClass).join('')}]`, 'iu'),
    },
  ]);
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`);

const inClass = (character: string): string => (character === '-' ? String.raw`\-` : escaped(character));
