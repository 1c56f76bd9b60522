import { loadRe2 } from '../../../core/kernel/on-demand.ts';
import { decidedIn } from '../../../formats/texts/replacing.ts';
import { longestMatch } from '../settings/longest-match.ts';
import type { TextSearch } from './text-search.ts';

export interface RegexOptions {
  readonly pattern: string;
  readonly mask: string;
  readonly longest?: number;
}

/** A pattern of the settings, in an engine that finds one match in linear time. */
export function searchRegex({ pattern, mask, longest = longestMatch(pattern) }: RegexOptions): TextSearch {
  const compiled = loadRe2().RE2JS.compile(pattern);
  return {
    in(text) {
      let matcher = compiled.matcher(text);
      let found = 0;
      return (from) => {
        for (let at = from; at <= text.length; at = matcher.end() + 1) {
          // The engine reads a String object as it reads a string.
          if (++found === UNCOUNTED) matcher = compiled.matcher(new CountedText(text) as unknown as string);
          if (!matcher.find(at)) break;
          if (matcher.end() > matcher.start()) return { start: matcher.start(), end: matcher.end(), mask };
        }
        return undefined;
      };
    },
    decided:
      longest === undefined ? undefined : (text, from) => decidedIn(text, { from, longest, isInside: undefined }),
    longest,
  };
}

/** So many searches of a text are not counted, which takes a third more time. */
const UNCOUNTED = 4;
/** The engine reads a character three to five times in one pass. */
const MOST_READS = 32;

/**
 * A text whose later matches may cost some eight passes over it. `a*b|a` reads to the end of `aaa…` for each `a`: all its
 * matches take quadratic time, in every engine that finds the leftmost match.
 */
class CountedText extends String {
  readonly #text: string;
  #left: number;

  constructor(text: string) {
    super(text);
    this.#text = text;
    this.#left = MOST_READS * (text.length + 1024);
  }

  override charCodeAt(at: number): number {
    this.#left -= 1;
    if (this.#left < 0) throw new Error('the pattern reads this text too often: bound its repeats');
    return this.#text.charCodeAt(at);
  }
}
