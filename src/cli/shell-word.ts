/** Text as one word of a command line to paste. Brackets, of an IPv6 address for one, are a pattern to shells. */
export const shellWord = (text: string): string =>
  /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
