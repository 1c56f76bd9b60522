import { loadRe2 } from '../../../core/kernel/on-demand.ts';
import { decidedIn } from '../../../formats/texts/replacing.ts';
import { longestMatch } from '../settings/longest-match.ts';
import type { TextSearch } from './text-search.ts';

export interface RegexOptions {
  readonly pattern: string;
  readonly mask: string;
  readonly longest?: number;
}

/** A pattern of the settings, in an engine whose time is linear in the text. */
export function searchRegex({ pattern, mask, longest = longestMatch(pattern) }: RegexOptions): TextSearch {
  const compiled = loadRe2().RE2JS.compile(pattern);
  return {
    in(text) {
      const matcher = compiled.matcher(text);
      return (from) => {
        for (let at = from; at <= text.length && matcher.find(at); at = matcher.end() + 1)
          if (matcher.end() > matcher.start()) return { start: matcher.start(), end: matcher.end(), mask };
        return undefined;
      };
    },
    decided:
      longest === undefined ? undefined : (text, from) => decidedIn(text, { from, longest, isInside: undefined }),
    longest,
  };
}
