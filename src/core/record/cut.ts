/** Maximum length, in characters, of a text of a caller or an upstream. */
export const MAX_TEXT = 256;

const PLAIN = /^[\x20-\x7e]*$/;
/** Each takes six bytes in JSON, and a terminal may interpret control characters. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Truncates a text of a caller or an upstream, and replaces unprintable characters. */
export function cut(text: string, length = MAX_TEXT): string {
  const short = text.length > length ? `${detached(text.slice(0, length))}…` : text;
  return PLAIN.test(short) ? short : short.replace(UNPRINTABLE, '\uFFFD');
}

/** Copies a text: a slice keeps its whole source string in memory, such as a path's query. */
export const detached = (text: string): string => Buffer.from(text).toString();
