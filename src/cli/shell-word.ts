/** Quotes text as one word of a shell command. Shells read brackets, as of an IPv6 address, as a pattern. */
export const shellWord = (text: string): string =>
  /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
