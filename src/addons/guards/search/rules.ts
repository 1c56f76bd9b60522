import { classOf, decidedIn } from '../../../formats/texts/replacing.ts';
import { NOTHING, searchAll, type Cursor, type TextSearch } from './text-search.ts';

/** A pattern with a check of its matches. Its repeats are bounded, so that its cost is linear in the text. */
export interface Rule {
  readonly pattern: RegExp;
  readonly mask: string;
  readonly longest: number;
  /** A class of all characters that a match can have: a text waits only while it ends in such characters. */
  readonly of?: RegExp;
  /** A text without it has no match; it is cheap to look for. */
  readonly needs?: RegExp;
  /** The start of a match whose pattern finds its later part. Undefined: there is no match. */
  readonly startOf?: (text: string, found: number, from: number) => number | undefined;
  /** False for what only looks like a match. */
  readonly isMatch?: (found: string) => boolean;
}

export const searchRules = (rules: readonly Rule[]): TextSearch => searchAll(rules.map(searchRule));

function searchRule(rule: Rule): TextSearch {
  const { pattern, longest, of, needs } = rule;
  const search = new RegExp(pattern.source, `${pattern.flags.replace('g', '')}g`);
  const isInside = of && classOf(of);
  return {
    in: (text) => (needs && !needs.test(text) ? NOTHING : cursorOf(rule, search, text)),
    decided: (text, from) => decidedIn(text, { from, longest, isInside }),
    longest,
  };
}

function cursorOf({ mask, startOf, isMatch }: Rule, search: RegExp, text: string): Cursor {
  return (from) => {
    search.lastIndex = from;
    for (let found = search.exec(text); found; found = search.exec(text)) {
      const end = found.index + found[0].length;
      const start = startOf ? startOf(text, found.index, from) : found.index;
      if (start !== undefined && end > start && (isMatch?.(text.slice(start, end)) ?? true))
        return { start, end, mask };
      search.lastIndex = found.index + 1;
    }
    return undefined;
  };
}
