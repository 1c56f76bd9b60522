import type { Rule } from './rules.ts';

const MASK = '[SECRET]';

/** A token: a prefix of its vendor, and letters after it. One of a fixed length ends there; any other ends where its bound is. */
const token = (prefix: string, rest: string, longest: number): Rule => ({
  pattern: new RegExp(`(?<![A-Za-z0-9])(?:${prefix})${rest}${/\{\d+\}$/.test(rest) ? '(?![A-Za-z0-9])' : ''}`),
  mask: MASK,
  longest,
  of: /[\w.~+/=-]/,
  // Words joined by dashes are names: `sk-loading-spinner-container`.
  isMatch: (found) => /\d/.test(found),
});

const BEGIN = '-----BEGIN';
const END = 'PRIVATE KEY-----';
const KEY_LETTERS = 8000;

/** A block of PEM, up to its end or as far as it goes. In JSON a line ends in `\n`. */
const PRIVATE_KEY: Rule = {
  pattern: new RegExp(
    `${BEGIN} [A-Z0-9 ]{0,40}${END}(?:[A-Za-z0-9+/=\\s\\\\:,-]{0,${KEY_LETTERS}}?-----END [A-Z0-9 ]{0,40}${END}|[A-Za-z0-9+/=\\s\\\\]{0,${KEY_LETTERS}})`,
  ),
  mask: MASK,
  longest: KEY_LETTERS + 200,
  decided(text, from) {
    const least = Math.max(from, text.length - KEY_LETTERS - 202);
    for (let begin = text.indexOf(BEGIN, least); begin >= 0; begin = text.indexOf(BEGIN, begin + 1))
      if (!isOver(text.slice(begin))) return begin;
    for (let length = Math.min(BEGIN.length - 1, text.length - from); length > 0; length -= 1)
      if (text.endsWith(BEGIN.slice(0, length))) return text.length - length;
    return text.length;
  },
};

/** A block that has ended, or that has no private key. */
const isOver = (block: string): boolean =>
  WHOLE.test(block) || (block.length > BEGIN.length + 41 + END.length && !HEAD.test(block));

const HEAD = new RegExp(`^${BEGIN} [A-Z0-9 ]{0,40}${END}`);
const WHOLE = new RegExp(`${HEAD.source}[A-Za-z0-9+/=\\s\\\\:,-]{0,${KEY_LETTERS}}?-----END [A-Z0-9 ]{0,40}${END}`);

/**
 * Secrets by the forms that their vendors document. The longest forms are bounded: of what is longer, the first letters
 * are found.
 */
export const SECRETS: readonly Rule[] = [
  PRIVATE_KEY,
  token('sk-(?:ant-|proj-|svcacct-|admin-|or-v1-)?', '[A-Za-z0-9_-]{20,220}', 240),
  token('AKIA|ASIA|ABIA|ACCA', '[A-Z2-7]{16}', 20),
  token('AIza', '[A-Za-z0-9_-]{35}', 39),
  token('gh[pousr]_', '[A-Za-z0-9]{36,251}', 255),
  token('github_pat_', '[A-Za-z0-9_]{22,244}', 255),
  token('gl(?:pat|ptt|rt|dt|soat)-', '[A-Za-z0-9_-]{20,64}', 70),
  token('xox[abeoprs]-', '[A-Za-z0-9-]{10,250}', 255),
  token('xapp-', '[A-Za-z0-9-]{20,250}', 255),
  token('[sr]k_(?:live|test)_', '[A-Za-z0-9]{16,247}', 255),
  token('whsec_', '[A-Za-z0-9+/=]{24,88}', 94),
  token('SG\\.', '[A-Za-z0-9_-]{16,32}\\.[A-Za-z0-9_-]{16,64}', 100),
  token('npm_', '[A-Za-z0-9]{36}', 40),
  token('pypi-', '[A-Za-z0-9_-]{40,250}', 255),
  token('hf_', '[A-Za-z0-9]{30,40}', 43),
  token('gsk_|xai-|r8_|pplx-', '[A-Za-z0-9]{32,100}', 105),
  token('dop_v1_|doo_v1_|dor_v1_', '[a-f0-9]{64}', 71),
  token('ya29\\.', '[A-Za-z0-9_-]{20,500}', 505),
  token('shp(?:at|ca|pa|ss)_', '[a-fA-F0-9]{32}', 38),
  token('eyJ', '[A-Za-z0-9_-]{10,2000}\\.eyJ[A-Za-z0-9_-]{10,4000}\\.[A-Za-z0-9_-]{10,1024}', 7100),
];
