/**
 * Shared by all scanners, which find something in JSON text without parsing it. JSON's own characters are ASCII, and no
 * byte of another character equals one: the same codes work on strings, latin1 views of bytes, and bytes.
 */

export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;
export const OPEN_ARRAY = 0x5b;
export const CLOSE_ARRAY = 0x5d;
export const MINUS = 0x2d;
export const PLUS = 0x2b;
export const DOT = 0x2e;
export const ZERO = 0x30;
export const NINE = 0x39;
export const CAPITAL_E = 0x45;
export const LETTER_E = 0x65;

/** White space (RFC 8259, section 2). The first comparison rejects most characters, and the code past the end. */
export const isSpace = (code: number): boolean =>
  code <= 0x20 && (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09);

export function afterSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

export function afterSpaceIn(bytes: Buffer, from: number): number {
  let at = from;
  while (isSpace(bytes[at]!)) at += 1;
  return at;
}

/** 1 for an opening bracket, -1 for a closing one, 0 for any other character. */
export function depthStep(code: number): number {
  if (code === OPEN_OBJECT || code === OPEN_ARRAY) return 1;
  return code === CLOSE_OBJECT || code === CLOSE_ARRAY ? -1 : 0;
}

/** Index after the closing quote of the string that opens at `from`, or the text's length without one. */
export function afterString(text: string, from: number): number {
  // Searches for quotes: on strings of megabytes a hundred times as fast as reading each character (measured).
  for (let quote = text.indexOf('"', from + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let before = quote - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((quote - before) % 2 === 1) return quote + 1;
  }
  return text.length;
}

/** `afterString` for bytes. Most strings are short, and a native search in a buffer costs more than reading them. */
export function afterStringIn(bytes: Buffer, from: number): number {
  let at = from + 1;
  for (let byte = bytes[at]; at < bytes.length && byte !== QUOTE; byte = bytes[at]) at += byte === BACKSLASH ? 2 : 1;
  return Math.min(at + 1, bytes.length);
}

/** Index of the quote that ends the string which begins at `from`; -1 without one, or behind a control character. */
export function closingQuote(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code < 0x20) return -1;
    if (code === BACKSLASH && !(text.charCodeAt((at += 1)) >= 0x20)) return -1;
  }
  return -1;
}

/** The value of a JSON string literal. Most literals have no escape and need no parser. */
export const unquoted = (text: string): string =>
  text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1);

/**
 * The deepest nesting of a JSON text that becomes part of a body. Parsing such a text needs no recursion, but walking
 * and writing its value does: some thousand levels overflow the stack (measured). A body itself may nest 64 levels
 * (`limits.json_depth`).
 */
export const MAX_DEPTH = 256;

/** Counts brackets only: the parser decides whether the text is valid JSON. */
export function nestsTooDeep(text: string): boolean {
  if (text.length <= MAX_DEPTH) return false;
  let depth = 0;
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = afterString(text, at);
      continue;
    }
    depth += depthStep(code);
    if (depth > MAX_DEPTH) return true;
    at += 1;
  }
  return false;
}

/**
 * Finds a key that occurs twice in one object of a JSON text. JSON.parse keeps the last value, and an upstream may read
 * the first.
 * @param text well-formed JSON
 */
export function repeatedKey(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  let keyIsDue = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = afterString(text, at);
      const keys = open.at(-1);
      if (keyIsDue && keys) {
        const key = unquoted(text.slice(at, end));
        if (keys.has(key)) return key;
        keys.add(key);
      }
      keyIsDue = false;
      at = end - 1;
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      open.push(code === OPEN_OBJECT ? new Set() : undefined);
      keyIsDue = code === OPEN_OBJECT;
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) open.pop();
    else if (code === COMMA) keyIsDue = open.at(-1) !== undefined;
  }
  return undefined;
}
