import type { Match, TextSearch } from './text-search.ts';

/** The words by their characters: each node is a character further. */
interface Node {
  readonly next: Map<number, Node>;
  /** A word ends here. `edge`: no letter or digit may follow it. */
  end?: { readonly edge: boolean };
}

/** A phrase goes on behind at most so many white spaces. */
const MOST_SPACES = 8;
const SPACE = 32;

/**
 * Whole words and phrases in any case. White space of a phrase stands for some white space of any kind. A word in a script that
 * writes no spaces between words is found inside others, too.
 */
export function searchWords(words: readonly string[], mask: string): TextSearch {
  const roots = { edge: node(), any: node() };
  let longest = 1;
  for (const written of words) {
    const word = lower(written.trim().replaceAll(/\s+/gu, ' '));
    const characters = [...word];
    const [first = '', last = ''] = [characters[0], characters.at(-1)];
    let at = hasEdges(first) ? roots.edge : roots.any;
    for (let unit = 0; unit < word.length; unit += 1) at = child(at, word.charCodeAt(unit));
    at.end = { edge: hasEdges(last) };
    longest = Math.max(longest, word.length + (MOST_SPACES - 1) * (word.split(' ').length - 1));
  }
  const begins = new Uint8Array(65_536);
  for (const { next } of [roots.edge, roots.any]) for (const code of next.keys()) begins[code] = 1;
  const walkAt = (text: string, at: number): Walk => {
    const inner = roots.any.next.size > 0 ? walk(roots.any, text, at) : NOWHERE;
    if (isWordBefore(text, at)) return inner;
    const own = walk(roots.edge, text, at);
    return { end: Math.max(own.end, inner.end), isOpen: own.isOpen || inner.isOpen };
  };
  return {
    longest,
    in(text) {
      const shown = lower(text);
      return (from) => {
        for (let at = from; at < shown.length; at += 1) {
          if (begins[shown.charCodeAt(at)] === 0) continue;
          const { end } = walkAt(shown, at);
          if (end > at) return { start: at, end, mask } satisfies Match;
        }
        return undefined;
      };
    },
    decided(text, from) {
      const least = Math.max(from, text.length - longest - 1);
      const shown = lower(text.slice(Math.max(0, least - 2)));
      const shift = text.length - shown.length;
      for (let at = least - shift; at < shown.length; at += 1)
        if (begins[shown.charCodeAt(at)] === 1 && walkAt(shown, at).isOpen) return at + shift;
      return text.length;
    },
  };
}

const node = (): Node => ({ next: new Map() });

function child(of: Node, code: number): Node {
  let found = of.next.get(code);
  if (!found) of.next.set(code, (found = node()));
  return found;
}

/** The end of the longest word from a place, or -1, and whether more text could be another one. */
interface Walk {
  readonly end: number;
  readonly isOpen: boolean;
}

const NOWHERE: Walk = { end: -1, isOpen: false };

function walk(root: Node, text: string, from: number): Walk {
  let end = -1;
  let current: Node | undefined = root;
  let at = from;
  while (current) {
    if (current.end && !(current.end.edge && isWordAt(text, at))) end = at;
    if (at >= text.length) return { end, isOpen: true };
    if (isSpace(text, at) && current.next.has(SPACE)) {
      const most = Math.min(at + MOST_SPACES, text.length);
      while (at < most && isSpace(text, at)) at += 1;
      current = current.next.get(SPACE);
    } else {
      current = current.next.get(text.charCodeAt(at));
      at += 1;
    }
  }
  return { end, isOpen: false };
}

/** Every unit in lower case, in the same number. */
function lower(text: string): string {
  const whole = text.toLowerCase();
  if (whole.length === text.length) return whole;
  return [...text].map((one) => (one.toLowerCase().length === one.length ? one.toLowerCase() : one)).join('');
}

const WORD = /^[\p{L}\p{N}_]/u;
const UNSPACED =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

const hasEdges = (character: string): boolean => !UNSPACED.test(character);

function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === SPACE || (code >= 9 && code <= 13) || (code >= 160 && /\s/.test(text[at]!));
}

function isWordAt(text: string, at: number): boolean {
  const code = text.codePointAt(at);
  return code !== undefined && isWord(code);
}

function isWordBefore(text: string, at: number): boolean {
  if (at === 0) return false;
  const low = text.charCodeAt(at - 1);
  return isWord(low >= 0xdc00 && low <= 0xdfff && at > 1 ? text.codePointAt(at - 2)! : low);
}

const isWord = (code: number): boolean =>
  code < 128
    ? (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122)
    : WORD.test(String.fromCodePoint(code));
