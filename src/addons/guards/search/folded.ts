import type { TextSearch } from './text-search.ts';

/**
 * Invisible characters (Unicode's Default_Ignorable_Code_Point: zero-width spaces and joiners, soft hyphens, tags), and
 * letters and digits in the shapes of mathematics, of full width, and in circles, which are others only in their look.
 */
const FOLDED = /[\p{Default_Ignorable_Code_Point}\u017f\u24b6-\u24e9\uff01-\uff5e\u{1d400}-\u{1d7ff}]/u;
const IGNORED = /^\p{Default_Ignorable_Code_Point}$/u;

/** A text without such characters, and the place of each of its units in the original. */
interface Folded {
  readonly text: string;
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

function fold(text: string): Folded {
  const starts: number[] = [];
  const ends: number[] = [];
  let out = '';
  let at = 0;
  for (const character of text) {
    const end = at + character.length;
    const shown = IGNORED.test(character) ? '' : FOLDED.test(character) ? character.normalize('NFKC') : character;
    for (let unit = 0; unit < shown.length; unit += 1) {
      const isWhole = shown !== character;
      starts.push(isWhole ? at : at + unit);
      ends.push(isWhole ? end : at + unit + 1);
    }
    out += shown;
    at = end;
  }
  return { text: out, starts, ends };
}

/** The first unit that begins at or after a place in the original. */
function unitAt({ starts }: Folded, from: number): number {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (starts[middle]! < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The search finds its matches also where invisible characters, or letters of another look, are in them. */
export function searchFolded(search: TextSearch): TextSearch {
  const { decided, longest } = search;
  return {
    longest,
    in(text) {
      if (!FOLDED.test(text)) return search.in(text);
      const folded = fold(text);
      const next = search.in(folded.text);
      return (from) => {
        const match = next(unitAt(folded, from));
        return match && { mask: match.mask, start: folded.starts[match.start]!, end: folded.ends[match.end - 1]! };
      };
    },
    decided:
      decided &&
      ((text, from) => {
        if (!FOLDED.test(text)) return decided(text, from);
        const folded = fold(text);
        const unit = decided(folded.text, unitAt(folded, from));
        // Ignored characters behind the last decided one wait with the next: a search may look at the character before its match.
        return Math.max(from, unit === 0 ? 0 : folded.ends[unit - 1]!);
      }),
  };
}
