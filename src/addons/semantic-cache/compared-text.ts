import type { ComparedText, Exchange, RequestBody, Uncompared } from '../../core/kernel/index.ts';
import { isObject } from '../../formats/json/object.ts';
import {
  afterString,
  afterSpace,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from '../../formats/json/scan.ts';
import { factsOf } from './text-facts.ts';

/** In a longer text one changed word hardly moves the vector, whatever the model. */
export const MAX_TEXT = 1_000;
/** Larger requests are long conversations or documents; reading one would block the process for milliseconds. */
const MAX_MESSAGES_BYTES = 256 * 1024;

/** Parts of earlier turns that are text. All others are media, tools, or unknown. */
const TEXT_PARTS: ReadonlySet<unknown> = new Set(['text', 'refusal', 'thinking', 'redacted_thinking']);
const TOOL_PARTS: ReadonlySet<unknown> = new Set([
  'tool_use',
  'tool_result',
  'server_tool_use',
  'mcp_tool_use',
  'mcp_tool_result',
]);
const TEXT_ROLES: ReadonlySet<unknown> = new Set(['system', 'developer', 'user', 'assistant']);
const TOOL_FIELDS = ['tool_calls', 'function_call'] as const;

/** Splits a request into the text of its last user message and the rest. */
export function splitText({ operation }: Pick<Exchange, 'operation'>, body: RequestBody): ComparedText | Uncompared {
  if (operation?.task !== 'generate' || !body.has('messages')) return 'operation';
  const bytes = body.bytesOf('messages');
  if (bytes.length > MAX_MESSAGES_BYTES) return 'large_body';
  const messages = body.value('messages');
  if (!Array.isArray(messages)) return 'operation';
  const unfit = messages.map(unfitOf).find((why) => why !== undefined);
  if (unfit) return unfit;
  const text = lastText(messages.at(-1));
  if (text === undefined) return 'last_turn';
  // Bytes as characters of one byte each: an index in the text is an index in the bytes.
  const json = bytes.toString('latin1');
  const span = lastTextSpan(json);
  // With an escaped key, the last text of the bytes may not be the parsed one.
  if (!span || JSON.parse(bytes.toString('utf8', span.from, span.to)) !== text) return 'last_turn';
  if (text.length > MAX_TEXT) return 'long_text';
  if (text.trim() === '') return 'empty_text';
  return { text, facts: factsOf(text), around: [bytes.subarray(0, span.from), bytes.subarray(span.to)] };
}

function unfitOf(message: unknown): Uncompared | undefined {
  if (!isObject(message)) return 'last_turn';
  if (!TEXT_ROLES.has(message['role'])) return 'tools';
  if (TOOL_FIELDS.some((field) => hasValue(message[field]))) return 'tools';
  if (hasValue(message['audio'])) return 'media';
  // Fields in which this gateway takes thoughts, signatures and media of earlier answers.
  const lists = ['content', 'content_blocks', 'content_parts'].map((field) => message[field]);
  const parts = lists.flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
  for (const part of parts) {
    const type = isObject(part) ? part['type'] : undefined;
    if (TEXT_PARTS.has(type)) continue;
    return TOOL_PARTS.has(type) ? 'tools' : 'media';
  }
  return undefined;
}

const hasValue = (value: unknown): boolean =>
  value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);

function lastText(message: unknown): string | undefined {
  if (!isObject(message) || message['role'] !== 'user') return undefined;
  const { content } = message;
  const part: unknown = Array.isArray(content) ? content.at(-1) : { type: 'text', text: content };
  const text = isObject(part) && part['type'] === 'text' ? part['text'] : undefined;
  return typeof text === 'string' ? text : undefined;
}

interface CharRange {
  readonly from: number;
  readonly to: number;
}

/** The last string, with quotes, of `content` or of a part's `text` in the last message of a list of messages. */
function lastTextSpan(json: string): CharRange | undefined {
  /** The key of each open object or list in its parent. */
  const keys: (string | undefined)[] = [];
  let key: string | undefined;
  let found: CharRange | undefined;
  let messages = 0;
  let foundIn = 0;
  for (let at = 0; at < json.length;) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      const end = afterString(json, at);
      if (json.charCodeAt(afterSpace(json, end)) === COLON) key = json.slice(at, end);
      else {
        if (isTextAt(keys, key)) [found, foundIn] = [{ from: at, to: end }, messages];
        key = undefined;
      }
      at = end;
      continue;
    }
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      if (keys.length === 1) messages += 1;
      keys.push(key);
      key = undefined;
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) keys.pop();
    at += 1;
  }
  return foundIn === messages ? found : undefined;
}

/** `[{"content": HERE}]` or `[{"content": [{"text": HERE}]}]`. */
const isTextAt = (keys: readonly (string | undefined)[], key: string | undefined): boolean =>
  keys.length === 2 ? key === '"content"' : keys.length === 4 && keys[2] === '"content"' && key === '"text"';
