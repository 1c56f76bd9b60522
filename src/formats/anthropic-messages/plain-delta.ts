import type { JsonObject } from '../conversation.ts';
import { fromBytes, literalAt, textLength } from '../json/literal.ts';
import { parseJson, stringOf } from '../json/object.ts';
import { CLOSE_OBJECT, closingQuote, NINE, ZERO } from '../json/scan.ts';

const LF = 0x0a;
const SPACE = 0x20;

/** Reads deltas that need no parser. */
export interface DeltaSource {
  /**
   * Index after the event at `from`, whose `index` and `delta` are then set; -1 for any other event.
   * @param isBytes `text` has one character per byte (sse/event-bytes.ts)
   */
  read(text: string, from: number, isBytes?: boolean): number;
  readonly index: number;
  readonly delta: JsonObject;
}

/**
 * Reads a `content_block_delta` without a parser if it is written as Anthropic writes it (recorded): the fields in this
 * order, and no space but the padding before the last brace. Nearly all events of a stream are deltas. One takes 0.2 µs
 * this way and 0.5 µs with the parser (measured). The parser reads any other event.
 */
export class PlainDelta implements DeltaSource {
  index = 0;
  delta: JsonObject = {};

  read(text: string, from: number, isBytes = false): number {
    if (!has(text, from, HEAD)) return -1;
    let at = from + HEAD.length;
    const digit = text.charCodeAt(at);
    if (digit < ZERO || digit > NINE || !has(text, (at += 1), DELTA)) return -1;
    const kind = KINDS.find(({ head }) => has(text, at + DELTA.length, head));
    if (!kind) return -1;
    const open = at + DELTA.length + kind.head.length;
    const close = closingQuote(text, open);
    const end = close < 0 ? -1 : afterTail(text, close + 1);
    const value = end < 0 ? undefined : valueOf(text.slice(open, close), isBytes);
    if (value === undefined) return -1;
    this.index = digit - ZERO;
    this.delta = kind.delta(value);
    return end;
  }
}

/** Text deltas of one block that follow each other. */
export interface TextDeltas {
  readonly index: number;
  /** See json/literal.ts. */
  readonly literals: readonly string[];
  /** UTF-16 units of their texts. */
  readonly length: number;
  /** Index after the last of them. */
  readonly end: number;
}

/**
 * Reads the text deltas at `from`, written as `PlainDelta` demands, without decoding their texts.
 * @param isText returns true if the block with this index is open and is a text
 */
export function textDeltas(text: string, from: number, isText: (index: number) => boolean): TextDeltas | undefined {
  if (text.charCodeAt(from + KIND) !== TEXT_KIND || !has(text, from, HEAD)) return undefined;
  const index = text.charCodeAt(from + HEAD.length) - ZERO;
  const head = TEXT_HEADS[index];
  if (head === undefined || !isText(index)) return undefined;
  const literals: string[] = [];
  let length = 0;
  let end = from;
  while (has(text, end, head)) {
    const found = literalAt(text, end + head.length);
    const next = found ? afterTail(text, found.close + 1) : -1;
    if (!found || next < 0) break;
    literals.push(found.literal);
    length += found.plain ? found.literal.length : textLength(found.literal);
    end = next;
  }
  return literals.length > 0 ? { index, literals, length, end } : undefined;
}

const HEAD = 'event: content_block_delta\ndata: {"type":"content_block_delta","index":';
const DELTA = ',"delta":{"type":"';
const KINDS: readonly { readonly head: string; readonly delta: (text: string) => JsonObject }[] = [
  { head: 'text_delta","text":"', delta: (text) => ({ type: 'text_delta', text }) },
  { head: 'input_json_delta","partial_json":"', delta: (text) => ({ type: 'input_json_delta', partial_json: text }) },
  { head: 'thinking_delta","thinking":"', delta: (text) => ({ type: 'thinking_delta', thinking: text }) },
];

/** The place of the second letter of the delta's type, which only `text_delta` has as `e`. */
const KIND = HEAD.length + 1 + DELTA.length + 1;
const TEXT_KIND = 'e'.charCodeAt(0);
const TEXT_HEADS = Array.from({ length: 10 }, (_, index) => `${HEAD}${index}${DELTA}text_delta","text":"`);

/** Comparing slices is native; `startsWith` compares each character (measured: 0.1 against 0.9 µs). */
const has = (text: string, at: number, part: string): boolean => text.slice(at, at + part.length) === part;

/** Index after `}`, padding, `}` and a blank line, or -1. */
function afterTail(text: string, from: number): number {
  if (text.charCodeAt(from) !== CLOSE_OBJECT) return -1;
  let at = from + 1;
  while (text.charCodeAt(at) === SPACE) at += 1;
  const ends = text.charCodeAt(at) === CLOSE_OBJECT && text.charCodeAt(at + 1) === LF && text.charCodeAt(at + 2) === LF;
  return ends ? at + 3 : -1;
}

/** The text of a JSON string's content; undefined when an escape is not valid. */
function valueOf(literal: string, isBytes: boolean): string | undefined {
  const text = isBytes && NOT_ASCII.test(literal) ? fromBytes(literal) : literal;
  return text.includes('\\') ? stringOf(parseJson(`"${text}"`)) : text;
}

const NOT_ASCII = /[\x80-\xff]/;
