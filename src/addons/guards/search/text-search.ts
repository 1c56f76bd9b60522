/** A match in a text, and the text that takes its place. */
export interface Match {
  readonly start: number;
  readonly end: number;
  readonly mask: string;
}

/** The first match that begins at or after a place. The places of the calls for one text grow. */
export type Cursor = (from: number) => Match | undefined;

/**
 * A search of texts. Whether a match begins at a place, and where it ends, depends on nothing but the text from
 * four characters before it to one character after its longest match: a stream finds the same as its whole text.
 */
export interface TextSearch {
  in(text: string): Cursor;
  /**
   * The first place at which more text can begin or change a match, at or after `from`. Undefined: the search needs the whole text.
   */
  readonly decided: ((text: string, from: number) => number) | undefined;
  /** The most characters of a match, where the search needs no whole text. */
  readonly longest?: number | undefined;
}

export const NOTHING: Cursor = () => undefined;

/** A text that breaks a rule is a match as a whole, once: an empty one, too. */
export const searchWhole = (isBroken: (text: string) => boolean): TextSearch => ({
  in(text) {
    if (!isBroken(text)) return NOTHING;
    let isFound = false;
    return () => {
      if (isFound) return undefined;
      isFound = true;
      return { start: 0, end: text.length, mask: '' };
    };
  },
  decided: undefined,
});

/** The matches of several searches; of two that begin together, the longer one. None needs the whole text. */
export function searchAll(searches: readonly TextSearch[]): TextSearch {
  const [only] = searches;
  if (only && searches.length === 1) return only;
  return {
    in: (text) => firstOf(searches.map((one) => one.in(text)).filter((cursor) => cursor !== NOTHING)),
    decided: (text, from) => Math.min(...searches.map((one) => one.decided?.(text, from) ?? from)),
    longest: Math.max(...searches.map(({ longest = 0 }) => longest)),
  };
}

/** Each match is searched for once. */
function firstOf(cursors: readonly Cursor[]): Cursor {
  if (cursors.length === 0) return NOTHING;
  const next = cursors.map((): Match | null | undefined => undefined);
  return (from) => {
    let first: Match | undefined;
    for (const [index, cursor] of cursors.entries()) {
      let match = next[index];
      if (match === undefined || (match && match.start < from)) match = next[index] = cursor(from) ?? null;
      if (!match) continue;
      if (!first || match.start < first.start || (match.start === first.start && match.end > first.end)) first = match;
    }
    return first;
  };
}
