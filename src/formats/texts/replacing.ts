import { joining, type TextEdit, type TextTransform } from './channels.ts';

export interface ReplacingOptions {
  /** The most characters that a match can have. A longer match is a fault of the plugin. */
  readonly longest: number;
  /**
   * A class of characters, such as `/[\w.@+-]/`, that every character of a match is of: then a text waits only while it
   * ends in such characters. Only patterns that look around or refer back need it: of any other the start of a match is
   * recognized, and nothing else waits.
   */
  readonly of?: RegExp;
}

/**
 * A transform that replaces a pattern in a text, however the text is split. The pattern may look one character beyond a
 * match on either side (`\b`).
 * @param replacement as `String.replace` takes it, or a function of the match
 */
export function replacing(
  pattern: RegExp,
  replacement: string | ((match: string) => string),
  { longest, of }: ReplacingOptions,
): TextTransform {
  if (!Number.isInteger(longest) || longest < 1) throw new TypeError('`longest` must be a whole number of at least 1');
  const { search, start, isPart, needs } = compiled(pattern);
  const isInside = of && classOf(of);
  /** The characters before the kept ones, at which the pattern may look. */
  let before = '';
  return joining((text, final) => {
    const whole = before + text;
    const from = before.length;
    const decided = final ? whole.length + 1 : decidedIn(whole, { from, longest, isInside: isInside ?? isPart, start });
    const edits: TextEdit[] = [];
    let out = '';
    let at = from;
    search.lastIndex = at;
    const next = (): RegExpExecArray | null => search.exec(whole);
    for (let match = mayHave(whole, needs) ? next() : null; match && match.index < decided; match = next()) {
      const [found] = match;
      if (found.length > longest || (isInside && ![...found].every(isInside)))
        throw new RangeError(
          `a match of ${pattern} has ${found.length} characters, or others than \`longest\` and \`of\` allow`,
        );
      if (found === '') {
        search.lastIndex += 1;
        continue;
      }
      const instead = typeof replacement === 'string' ? expanded(replacement, found) : replacement(found);
      out += whole.slice(at, match.index) + instead;
      at = match.index + found.length;
      // Other texts search with the same object, also from within a replacement.
      search.lastIndex = at;
      if (instead !== found) edits.push({ from: match.index - from, to: at - from, text: instead });
    }
    const end = Math.max(at, Math.min(decided, whole.length));
    out += whole.slice(at, end);
    before = whole.slice(Math.max(0, end - 2), end);
    return { text: out, keep: whole.length - end, edits };
  });
}

interface StartOfMatch {
  readonly start: RegExp;
  /** Each match has at least one of them. Undefined: not known. */
  readonly needs: readonly string[] | undefined;
  /** Each character of a match is one. */
  readonly isPart: (character: string) => boolean;
}

interface Compiled extends Partial<StartOfMatch> {
  readonly search: RegExp;
}

/** Each text of each reply would compile its pattern again. A pattern within a function is another object each time. */
const patterns = new Map<string, Compiled>();
const MOST_PATTERNS = 1000;
const byObject = new WeakMap<RegExp, Compiled>();

function compiled(pattern: RegExp): Compiled {
  const known = byObject.get(pattern);
  if (known) return known;
  const key = String(pattern);
  const made = patterns.get(key) ?? compile(pattern);
  byObject.set(pattern, made);
  if (patterns.size < MOST_PATTERNS) patterns.set(key, made);
  return made;
}

function compile({ source, flags }: RegExp): Compiled {
  const search = new RegExp(source, withFlag(flags, 'g').replace('y', ''));
  return { search, ...startOf(search) };
}

export interface Undecided {
  readonly from: number;
  readonly longest: number;
  readonly isInside: ((character: string) => boolean) | undefined;
  /** Finds what more text can make a match. */
  readonly start?: RegExp | undefined;
}

/** Index of the first character at which a match may still begin or change with more text. */
export function decidedIn(whole: string, { from, longest, isInside, start }: Undecided): number {
  // The pattern may look at one character behind the longest match, which may have two units.
  const least = Math.max(from, whole.length - longest - 1);
  let at = least;
  if (isInside) {
    at = whole.length;
    while (at > least) {
      const size = isPairBefore(whole, at) ? 2 : 1;
      if (!isInside(whole.slice(at - size, at))) break;
      at -= size;
    }
  }
  if (start) {
    start.lastIndex = Math.max(at, least);
    at = start.exec(whole)?.index ?? whole.length;
  }
  return at > from && isPairBefore(whole, at + 1) ? at - 1 : Math.max(at, from);
}

/** Nothing follows, whatever the flags. */
const END = '(?![^])';
/** A character, class or bound of words; or what groups, repeats or anchors. */
const PART =
  /(\\(?:u\{[\da-f]+\}|u[\da-f]{4}|x[\da-f]{2}|p\{[^}]*\}|c[a-z]|[^1-9kpuxc])|\[(?:\\[^]|[^\]\\])*\]|[^()|?*+{}^$\\[\]])|\(\?:|\(\?<[a-z]\w*>|\((?!\?)|[)|^$]|[*+?]\??|\{\d+(?:,\d*)?\}\??/;

/**
 * The pattern in which each character may be the end of the text instead: what it finds at the end of a text may become a match,
 * or another match, with more text. Undefined for a pattern that looks around, refers back, or is written in an old syntax.
 */
function startOf({ source, flags, unicode, unicodeSets, ignoreCase }: RegExp): StartOfMatch | undefined {
  const part = new RegExp(PART, unicode ? 'iuy' : 'iy');
  let start = '';
  const parts: string[] = [];
  const tokens: string[] = [];
  for (let at = 0; at < source.length; at = part.lastIndex) {
    part.lastIndex = at;
    const found = part.exec(source);
    if (!found || unicodeSets) return undefined;
    start += found[1] === undefined ? found[0] : `(?:${found[1]}|${END})`;
    if (found[1] !== undefined) parts.push(found[1]);
    tokens.push(found[0]);
  }
  const isPart = classOf(new RegExp([...new Set(parts)].join('|') || '(?!)', flags));
  return {
    start: new RegExp(`(?:${start})${END}`, flags),
    needs: ignoreCase ? undefined : needsOf(tokens),
    // Without the flag `u` a pattern has halves of pairs.
    isPart: unicode ? isPart : (character) => isPart(character[0]!) || (character.length > 1 && isPart(character[1]!)),
  };
}

/** The longest row of plain characters outside of groups in each alternative; undefined if one has none. */
function needsOf(tokens: readonly string[]): readonly string[] | undefined {
  const needs = [''];
  let depth = 0;
  let row = '';
  for (const [index, token] of tokens.entries()) {
    const isNeeded = depth === 0 && IS_PLAIN.test(token) && !IS_OPTIONAL.test(tokens[index + 1] ?? '');
    row = isNeeded ? row + token.replace('\\', '') : '';
    if (row.length > needs.at(-1)!.length) needs[needs.length - 1] = row;
    if (token.startsWith('(')) depth += 1;
    else if (token === ')') depth -= 1;
    else if (token === '|' && depth === 0) needs.push('');
  }
  return needs.includes('') ? undefined : needs;
}

const IS_PLAIN = /^(?:[^\\.[()|^$*+?{]|\\[^\w\s])$/;
const IS_OPTIONAL = /^[*?]|^\{0/;

/** Such a search is native (measured: a pattern of addresses takes 35 µs for 1,500 characters without a match). */
const mayHave = (text: string, needs: readonly string[] | undefined): boolean =>
  !needs || needs.some((needed) => text.includes(needed));

const isPairBefore = (text: string, end: number): boolean =>
  end > 1 && isLow(text.charCodeAt(end - 1)) && isHigh(text.charCodeAt(end - 2));

const isHigh = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
const isLow = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;

const withFlag = (flags: string, flag: string): string => (flags.includes(flag) ? flags : flags + flag);

/** `$&` is the match. */
const expanded = (replacement: string, found: string): string =>
  replacement.includes('$&') ? replacement.replaceAll('$&', () => found) : replacement;

/** The characters of a class; those of ASCII are looked up in a table. */
export function classOf(of: RegExp): (character: string) => boolean {
  const one = new RegExp(`^(?:${of.source})$`, of.flags.replaceAll(/[gy]/g, ''));
  const table = Array.from({ length: 128 }, (_, code) => one.test(String.fromCharCode(code)));
  return (character) => (character.length === 1 ? table[character.charCodeAt(0)] : undefined) ?? one.test(character);
}
