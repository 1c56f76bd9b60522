import type { JsonSpan } from '../json/members.ts';
import { QUOTE, BACKSLASH, COMMA, COLON, isSpace, afterSpace, depthStep, afterString } from '../json/scan.ts';

/**
 * Finds members of JSON text without parsing it. Works on latin1 views of UTF-8: JSON's own characters are all ASCII,
 * and the bytes of other characters never are, so an index here is an index in the bytes.
 * Why a search for `"key"` finds keys only: inside a string the quotes are escaped, so an unescaped `"key"` followed by
 * a colon cannot be part of one, and a string value is never followed by a colon.
 */

/** Index of the value of the next member named `key` (with its quotes), at any depth; -1 when there is none. */
export function valueOf(text: string, key: string, from = 0): number {
  for (let at = text.indexOf(key, from); at >= 0; at = text.indexOf(key, at + key.length)) {
    // This is the end of a longer key: `"x\"usage":`.
    if (text.charCodeAt(at - 1) === BACKSLASH) continue;
    const colon = afterSpace(text, at + key.length);
    if (text.charCodeAt(colon) === COLON) return afterSpace(text, colon + 1);
  }
  return -1;
}

/**
 * Finds the member named `key` of the outermost object, with its comma. The depth of the first match is counted from
 * the end of the text, because the member is near the end of a chunk, after its long part. When that match is nested,
 * the whole text is read once: measuring the depth of each of thousands of names takes quadratic time.
 */
export function topLevelMember(text: string, key: string): JsonSpan | undefined {
  const value = valueOf(text, key);
  if (value < 0) return undefined;
  const end = valueEnd(text, value);
  // The search ends before the value, which may be the same text as the key.
  const from = text.lastIndexOf(key, value - 1);
  if (depthFromEnd(text, end) === 1) return withComma(text, { from, to: end });
  const member = memberFrom(text, key, end);
  return member && withComma(text, member);
}

/** Searches for a member of the outermost object from `at`, which is outside of strings. */
function memberFrom(text: string, key: string, at: number): JsonSpan | undefined {
  let depth = depthFromEnd(text, at);
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code !== QUOTE) {
      depth += depthStep(code);
      at += 1;
      continue;
    }
    const end = afterString(text, at);
    const colon = afterSpace(text, end);
    if (depth === 1 && end - at === key.length && text.startsWith(key, at) && text.charCodeAt(colon) === COLON)
      return { from: at, to: valueEnd(text, afterSpace(text, colon + 1)) };
    at = end;
  }
  return undefined;
}

function withComma(text: string, { from, to }: JsonSpan): JsonSpan {
  let before = from - 1;
  while (isSpace(text.charCodeAt(before))) before -= 1;
  if (text.charCodeAt(before) === COMMA) return { from: before, to };
  const after = afterSpace(text, to);
  return text.charCodeAt(after) === COMMA ? { from, to: after + 1 } : { from, to };
}

function valueEnd(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = afterString(text, at);
    else {
      const change = depthStep(code);
      // A bare number or literal ends where its parent continues or closes.
      if (depth === 0 && (change < 0 || code === COMMA || isSpace(code))) return at;
      depth += change;
      at += 1;
    }
    if (depth === 0 && (code === QUOTE || depthStep(code) < 0)) return at;
  }
  return text.length;
}

/** How many objects and arrays are open at `from`, which is outside of strings. */
function depthFromEnd(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = afterString(text, at);
    else {
      depth -= depthStep(code);
      at += 1;
    }
  }
  return depth;
}
