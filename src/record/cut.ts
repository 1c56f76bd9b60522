/** Text of a caller or an upstream is cut to this length. */
export const MAX_TEXT = 256;

const PLAIN = /^[\x20-\x7e]*$/;
/** Control characters, ends of lines, halves of surrogate pairs and the like: six bytes each in JSON, and a terminal may obey them. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Bounds a text that somebody else wrote. */
export function cut(text: string): string {
  const short = text.length > MAX_TEXT ? `${detached(text.slice(0, MAX_TEXT))}…` : text;
  return PLAIN.test(short) ? short : short.replace(UNPRINTABLE, '\uFFFD');
}

/** The same text by itself: a slice keeps all of what it was cut from in memory, a path its query. */
export const detached = (text: string): string => Buffer.from(text).toString();
