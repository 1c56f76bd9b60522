import {
  afterSpace,
  afterString,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  depthStep,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from './scan.ts';

/** A value in a JSON text. */
export interface JsonSpan {
  readonly from: number;
  readonly to: number;
}

/**
 * Calls `found` with each member of the object that opens at `from`, until it returns false. The text need not be valid JSON: the
 * reader ends where it makes no sense.
 * @param text JSON, or its bytes with one character each
 */
export function eachMember(text: string, from: number, found: (key: string, value: JsonSpan) => boolean): void {
  if (text.charCodeAt(from) !== OPEN_OBJECT) return;
  let at = afterSpace(text, from + 1);
  while (text.charCodeAt(at) === QUOTE) {
    const keyEnd = afterString(text, at);
    const colon = afterSpace(text, keyEnd);
    if (text.charCodeAt(colon) !== COLON) return;
    const value = spanAt(text, colon + 1);
    if (!value || !found(text.slice(at + 1, keyEnd - 1), value)) return;
    const next = afterSpace(text, value.to);
    if (text.charCodeAt(next) !== COMMA) return;
    at = afterSpace(text, next + 1);
  }
}

/** The items of the list that opens at `from`. */
export function itemSpans(text: string, from: number): JsonSpan[] {
  const spans: JsonSpan[] = [];
  if (text.charCodeAt(from) !== OPEN_ARRAY || text.charCodeAt(afterSpace(text, from + 1)) === CLOSE_ARRAY) return spans;
  for (let at = from + 1, span = spanAt(text, at); span; span = spanAt(text, at)) {
    spans.push(span);
    const next = afterSpace(text, span.to);
    if (text.charCodeAt(next) !== COMMA) break;
    at = next + 1;
  }
  return spans;
}

/** The value behind white space. Undefined where none begins. */
function spanAt(text: string, after: number): JsonSpan | undefined {
  const from = afterSpace(text, after);
  const to = afterValue(text, from);
  return to > from ? { from, to } : undefined;
}

/** Index after the value that begins at `from`. */
export function afterValue(text: string, from: number): number {
  const first = text.charCodeAt(from);
  if (first === QUOTE) return afterString(text, from);
  if (first === OPEN_OBJECT || first === OPEN_ARRAY) return afterNested(text, from);
  let at = from;
  for (let code = first; code > 0x20 && !isEnd(code); code = text.charCodeAt(at)) at += 1;
  return at;
}

const isEnd = (code: number): boolean => code === COMMA || code === CLOSE_OBJECT || code === CLOSE_ARRAY;

function afterNested(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = afterString(text, at);
      continue;
    }
    depth += depthStep(code);
    at += 1;
    if (depth === 0) return at;
  }
  return text.length;
}
