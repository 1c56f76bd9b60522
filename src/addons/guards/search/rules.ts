import { classOf, decidedIn } from '../../../plugin/replacing.ts';
import { firstOf, type Cursor, type TextSearch } from './text-search.ts';

/** A pattern with a check of its matches. Its repeats are bounded, so that its cost is linear in the text. */
export interface Rule {
  readonly pattern: RegExp;
  readonly mask: string;
  /** The most UTF-16 units of a match. */
  readonly longest: number;
  /** A class of all characters that a match can have: a text waits only while it ends in such characters. */
  readonly of?: RegExp;
  /** False for what only looks like a match. */
  readonly isMatch?: (found: string) => boolean;
  /** Takes the place of `longest` and `of`. */
  readonly decided?: (text: string, from: number) => number;
}

/** Searches for all rules at once. */
export function searchOf(rules: readonly Rule[]): TextSearch {
  const waits = rules.map(({ longest, of, decided }) => {
    const isInside = of && classOf(of);
    return decided ?? ((text: string, from: number) => decidedIn(text, { from, longest, isInside }));
  });
  return {
    in: (text) => firstOf(rules.map((rule) => cursorOf(rule, text))),
    decided: (text, from) => Math.min(...waits.map((wait) => wait(text, from))),
  };
}

function cursorOf({ pattern, mask, isMatch }: Rule, text: string): Cursor {
  const search = new RegExp(pattern.source, pattern.flags.includes('g') ? pattern.flags : `${pattern.flags}g`);
  return (from) => {
    search.lastIndex = from;
    for (let found = search.exec(text); found; found = search.exec(text)) {
      const [match] = found;
      if (match !== '' && (isMatch?.(match) ?? true))
        return { start: found.index, end: found.index + match.length, mask };
      search.lastIndex = found.index + 1;
    }
    return undefined;
  };
}
