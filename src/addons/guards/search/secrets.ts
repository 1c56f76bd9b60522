import { searchAll, type Match, type TextSearch } from './text-search.ts';

const MASK = '[SECRET]';

/** A token: a prefix of its vendor, and letters after it. One of a fixed length ends there; any other ends where its bound is. */
interface Token {
  /** Of the letters after the prefix, from there on. */
  readonly rest: RegExp;
  readonly longest: number;
  /** No letter of the token's own may stand before it: chains of prefixes would be searched again and again. */
  readonly alone: boolean;
}

const TOKENS = new Map<string, Token>();

function token(prefixes: string, rest: string, longest: number, alone = false): void {
  const source = `${rest}${/\{\d+\}$/.test(rest) ? '(?![A-Za-z0-9])' : ''}`;
  for (const prefix of prefixes.split(' ')) TOKENS.set(prefix, { rest: new RegExp(source, 'y'), longest, alone });
}

// By the documents of their vendors. The longest forms are bounded: of what is longer, the first letters are found.
token('sk-', '[A-Za-z0-9_-]{20,220}', 224);
token('AKIA ASIA ABIA ACCA', '[A-Z2-7]{16}', 20);
token('AIza', '[A-Za-z0-9_-]{35}', 39);
token('ghp_ gho_ ghu_ ghs_ ghr_', '[A-Za-z0-9]{36,251}', 255);
token('github_pat_', '[A-Za-z0-9_]{22,244}', 255);
token('glpat- glptt- glrt- gldt- glsoat-', '[A-Za-z0-9_-]{20,64}', 71);
token('xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-', '[A-Za-z0-9-]{10,250}', 255);
token('sk_live_ sk_test_ rk_live_ rk_test_', '[A-Za-z0-9]{16,247}', 255);
token('whsec_', '[A-Za-z0-9+/=]{24,88}', 94);
token('SG.', '[A-Za-z0-9_-]{16,32}\\.[A-Za-z0-9_-]{16,64}', 100);
token('npm_', '[A-Za-z0-9]{36}', 40);
token('pypi-', '[A-Za-z0-9_-]{40,250}', 255);
token('hf_', '[A-Za-z0-9]{30,40}', 43);
token('gsk_ xai- r8_ pplx-', '[A-Za-z0-9]{32,100}', 105);
token('dop_v1_ doo_v1_ dor_v1_', '[a-f0-9]{64}', 71);
token('ya29.', '[A-Za-z0-9_-]{20,500}', 505);
token('shpat_ shpca_ shppa_ shpss_', '[a-fA-F0-9]{32}', 38);
token('eyJ', '[A-Za-z0-9_-]{10,2000}\\.eyJ[A-Za-z0-9_-]{10,4000}\\.[A-Za-z0-9_-]{10,1024}', 7100, true);
const PREFIX = new RegExp([...TOKENS.keys()].map((text: string): string => text.replaceAll('.', '\\.')).join('|'), 'g');
const LONGEST = 7100;

const BEGINNINGS = new Set(
  [...TOKENS.keys()].flatMap((prefix) => [...prefix].map((_, length) => prefix.slice(0, length)).slice(1)),
);
const LONGEST_PREFIX = Math.max(...[...TOKENS.keys()].map(({ length }) => length));

const LETTER = /[A-Za-z0-9]/;
const OF_TOKEN = /[A-Za-z0-9_-]/;
const RUN = /[\w.~+/=-]/;

const searchTokens = (): TextSearch => ({
  longest: LONGEST,
  in(text) {
    let digit = -1;
    return (from) => {
      PREFIX.lastIndex = from;
      for (let found = PREFIX.exec(text); found; found = PREFIX.exec(text)) {
        const start = found.index;
        if (digit < start) digit = nextDigit(text, start);
        // Words joined by dashes are names: `sk-loading-spinner-container`.
        const end = digit - start > LONGEST ? undefined : tokenEnd(text, start, found[0], digit);
        if (end !== undefined) return { start, end, mask: MASK } satisfies Match;
        PREFIX.lastIndex = start + 1;
      }
      return undefined;
    };
  },
  decided(text, from) {
    const least = Math.max(from, text.length - LONGEST - 1);
    let run = text.length;
    while (run > least && RUN.test(text[run - 1]!)) run -= 1;
    PREFIX.lastIndex = run;
    for (let found = PREFIX.exec(text); found; found = PREFIX.exec(text)) {
      const { longest } = TOKENS.get(found[0])!;
      if (isAllowed(text, found.index, found[0]) && text.length - found.index <= longest + 1) return found.index;
      PREFIX.lastIndex = found.index + 1;
    }
    for (let length = Math.min(LONGEST_PREFIX - 1, text.length - run); length > 0; length -= 1) {
      const at = text.length - length;
      if (BEGINNINGS.has(text.slice(at)) && !(at > 0 && LETTER.test(text[at - 1]!))) return at;
    }
    return text.length;
  },
});

function isAllowed(text: string, start: number, prefix: string): boolean {
  const { alone } = TOKENS.get(prefix)!;
  return start === 0 || !(alone ? OF_TOKEN : LETTER).test(text[start - 1]!);
}

/** @param digit the place of the next digit: every token has one behind its prefix */
function tokenEnd(text: string, start: number, prefix: string, digit: number): number | undefined {
  const { rest, longest } = TOKENS.get(prefix)!;
  if (digit - start > longest || !isAllowed(text, start, prefix)) return undefined;
  rest.lastIndex = start + prefix.length;
  const [found] = rest.exec(text) ?? [];
  return found !== undefined && /\d/.test(found) ? start + prefix.length + found.length : undefined;
}

const DIGIT = /\d/g;

function nextDigit(text: string, from: number): number {
  DIGIT.lastIndex = from;
  return DIGIT.exec(text)?.index ?? Infinity;
}

const BEGIN = '-----BEGIN';
const KIND = '[A-Z0-9 ]{0,40}PRIVATE KEY-----';
const KEY_LETTERS = 8000;
const HEAD = new RegExp(`^${BEGIN} ${KIND}`);
const LONGEST_HEAD = BEGIN.length + 41 + 'PRIVATE KEY-----'.length;
/** In JSON a line ends in `\n`; an encrypted key has headers. */
const BODY = /[A-Za-z0-9+/=\s\\:,]|-(?!----)/.source;
const END = `-----END ${KIND}`;
/** Up to its end; without one, the lines of base64. */
const KEY = new RegExp(
  `${BEGIN} ${KIND}(?:(?:${BODY}){0,${KEY_LETTERS}}${END}|(?:(?:\\s|\\\\[nr]){0,4}[A-Za-z0-9+/=]{16,100}){1,120})`,
  'g',
);
const WHOLE = new RegExp(`^${BEGIN} ${KIND}(?:${BODY}){0,${KEY_LETTERS}}${END}`);
/** A head, and lines behind which more may follow. */
const OPEN = new RegExp(
  `^${BEGIN} ${KIND}(?:${BODY}){0,${KEY_LETTERS}}(?:-{1,5}(?:E|EN|END|END [A-Z0-9 ]{0,56}-{0,5})?)?$`,
);

const searchKeys = (): TextSearch => ({
  longest: KEY_LETTERS + 2 * LONGEST_HEAD,
  in: (text) => (from) => {
    if (text.indexOf(BEGIN, from) < 0) return undefined;
    KEY.lastIndex = from;
    const found = KEY.exec(text);
    return found ? { start: found.index, end: found.index + found[0].length, mask: MASK } : undefined;
  },
  decided(text, from) {
    const least = Math.max(from, text.length - KEY_LETTERS - 250);
    for (let begin = text.indexOf(BEGIN, least); begin >= 0; begin = text.indexOf(BEGIN, begin + 1))
      if (isOpen(text.slice(begin))) return begin;
    for (let length = Math.min(BEGIN.length - 1, text.length - from); length > 0; length -= 1)
      if (text.endsWith(BEGIN.slice(0, length))) return text.length - length;
    return text.length;
  },
});

/** More text may make a key of the block, or a longer one. */
const isOpen = (block: string): boolean =>
  HEAD.test(block) ? !WHOLE.test(block) && OPEN.test(block) : block.length <= LONGEST_HEAD;

const URL_PASSWORD = /:\/\/[^\s:/@]{1,64}:[^\s/@]{4,128}@/g;
const OPEN_URL = /^:\/\/[^\s:/@]{0,64}(?::[^\s/@]{0,128})?$/;
const LONGEST_URL = 3 + 64 + 1 + 128 + 1;

/** The name and the password in an address: `postgres://NAME:PASSWORD@HOST`. */
const searchUrls = (): TextSearch => ({
  longest: LONGEST_URL,
  in: (text) => (from) => {
    URL_PASSWORD.lastIndex = from;
    const found = URL_PASSWORD.exec(text);
    return found ? { start: found.index, end: found.index + found[0].length, mask: `://${MASK}@` } : undefined;
  },
  decided(text, from) {
    const least = Math.max(from, text.length - LONGEST_URL - 1);
    for (let at = text.indexOf('://', least); at >= 0; at = text.indexOf('://', at + 1))
      if (OPEN_URL.test(text.slice(at))) return at;
    return Math.max(from, text.length - (text.endsWith(':/') ? 2 : text.endsWith(':') ? 1 : 0));
  },
});

/** Secrets by the forms that their vendors document. */
export const searchSecrets = (): TextSearch => searchAll([searchTokens(), searchKeys(), searchUrls()]);
