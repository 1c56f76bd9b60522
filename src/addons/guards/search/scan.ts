import { joining, type JoiningTransform, type TextEdit } from '../../../formats/texts/channels.ts';
import type { Match, TextSearch } from './text-search.ts';

/** Called for a match. Throws to refuse the text. */
type OnMatch = (match: Match) => void;

export function masked(text: string, search: TextSearch, onMatch: OnMatch): string {
  const next = search.in(text);
  let out = '';
  let at = 0;
  for (let match = next(0); match; match = next(at)) {
    onMatch(match);
    out += text.slice(at, match.start) + match.mask;
    at = match.end;
  }
  return out + text.slice(at);
}

/** A search looks back at four characters; the others are room for invisible ones, which it does not see. */
const BEFORE = 16;

/** The most undecided characters that are searched again at each piece. */
const SEARCHED_AGAIN = 512;

/** Replaces the matches of a text that comes in pieces. Its undecided end waits. */
export function maskingStream(search: TextSearch, onMatch: OnMatch): JoiningTransform {
  /** The characters before the kept ones, at which a search may look. */
  let before = '';
  let searched = 0;
  return joining((text, final) => {
    // More of them wait for an eighth of their number: the cost stays linear, whatever the size of the pieces.
    const tooFew = searched > SEARCHED_AGAIN && text.length < searched + searched / 8;
    if (!final && (!search.decided || tooFew)) return { text: '', keep: text.length, edits: [] };
    // Half a pair says nothing: it waits for its other half.
    const half = !final && isHigh(text.charCodeAt(text.length - 1)) ? 1 : 0;
    const whole = before + text.slice(0, text.length - half);
    const from = before.length;
    const decided = final ? whole.length + 1 : (search.decided?.(whole, from) ?? from);
    const next = search.in(whole);
    const edits: TextEdit[] = [];
    let out = '';
    let at = from;
    for (let match = next(at); match && match.start < decided; match = next(at)) {
      onMatch(match);
      out += whole.slice(at, match.start) + match.mask;
      at = match.end;
      if (at > match.start) edits.push({ from: match.start - from, to: at - from, text: match.mask });
    }
    const end = Math.max(at, Math.min(decided, whole.length));
    out += whole.slice(at, end);
    before = whole.slice(Math.max(0, end - BEFORE), end);
    searched = whole.length - end + half;
    return { text: out, keep: searched, edits };
  });
}

const isHigh = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;

/** A text in pieces that is only observed: it keeps the undecided end itself. */
export function watchingStream(search: TextSearch, onMatch: OnMatch): JoiningTransform {
  const transform = maskingStream(search, onMatch);
  let pending = '';
  return joining((text, final) => {
    pending += text;
    const { keep = 0 } = transform(pending, final);
    pending = keep === 0 ? '' : pending.slice(-keep);
    return { text };
  });
}
