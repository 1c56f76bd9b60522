import { unwrapInput } from '../custom-tools.ts';
import type { JsonObject } from '../conversation.ts';
import type { GenerationEvent } from '../events.ts';
import type { ReplyContext } from '../format.ts';
import { fieldsOf, KNOWN, withoutDirectCaller } from './block-fields.ts';
import { isObject, setField, listOf, parseJson, stringOf } from '../json/object.ts';
import { LiteralText } from '../json/literal.ts';
import { mcpPart } from '../mcp-parts.ts';
import type { TextDeltas } from './plain-delta.ts';

/** State shared by the blocks of one reply. */
export interface ReplyState {
  readonly reply: ReplyContext;
  readonly out: GenerationEvent[];
  /** UTF-16 length of the answer text so far: citations are spans of it. */
  answerLength: number;
  calls: number;
  jsonAnswers: number;
}

/** Reads one content block. A plain reply opens it whole and closes it; a stream opens it empty and feeds deltas. */
export interface BlockReader {
  delta(delta: JsonObject): void;
  /** Reads text deltas that follow each other, as literals. Only on a text block. */
  texts?(deltas: TextDeltas): void;
  close(): void;
}

export function openBlock(block: JsonObject, index: number, state: ReplyState): BlockReader {
  switch (block.type) {
    case 'text':
      return new TextReader(block, index, state);
    case 'thinking':
      return new ThinkingReader(block, index, state);
    case 'redacted_thinking':
      state.out.push({ type: 'redacted_thinking', choice: 0, block: index, data: stringOf(block.data) ?? '' });
      return { delta: () => {}, close: () => {} };
    case 'tool_use':
      return openToolUse(block, index, state);
    default:
      return new OpaqueReader(block, index, state);
  }
}

function openToolUse(block: JsonObject, index: number, state: ReplyState): BlockReader {
  const name = stringOf(block.name) ?? '';
  if (state.reply.jsonTool !== undefined && name === state.reply.jsonTool)
    return new JsonAnswerReader(block, index, state);
  return state.reply.customTools?.has(name)
    ? new CustomCallReader(block, index, state)
    : new ToolUseReader(block, index, state);
}

class TextReader implements BlockReader {
  readonly #state: ReplyState;
  readonly #block: JsonObject;
  readonly #index: number;
  readonly #start: number;
  readonly #citations: unknown[];
  #shown = false;

  constructor(block: JsonObject, index: number, state: ReplyState) {
    this.#state = state;
    this.#block = block;
    this.#index = index;
    this.#start = state.answerLength;
    this.#citations = [...(listOf(block.citations) ?? [])];
    this.#text(stringOf(block.text));
  }

  delta(delta: JsonObject): void {
    if (delta.type === 'text_delta') this.#text(stringOf(delta.text));
    else if (delta.type === 'citations_delta') this.#citations.push(delta.citation);
  }

  texts({ literals, length }: TextDeltas): void {
    this.#shown = true;
    this.#state.answerLength += length;
    this.#state.out.push(new LiteralText(0, this.#index, literals));
  }

  /** Citations come before or amid their text; their span is known only when the block is complete. */
  close(): void {
    // A block without text makes no part that fields or citations could belong to.
    if (!this.#shown) return;
    let fields = fieldsOf(this.#block, KNOWN.citedText);
    if (this.#citations.length > 0) (fields ??= { type: 'text' }).citations = this.#citations;
    pushFields(this.#state, this.#index, fields);
    for (const citation of this.#citations) this.#cite(citation);
  }

  /** Only web results have a URL. Other citations stay attached (docs/protocols/replies.md#claude-citations). */
  #cite(citation: unknown): void {
    if (!isObject(citation) || citation.type !== 'web_search_result_location') return;
    const url = stringOf(citation.url);
    const title = stringOf(citation.title);
    if (url === undefined) return;
    const span = { start: this.#start, end: this.#state.answerLength };
    this.#state.out.push({
      type: 'citation',
      choice: 0,
      citation: { url, ...(title !== undefined && { title }), ...span },
    });
  }

  #text(text: string | undefined): void {
    if (!text) return;
    this.#shown = true;
    this.#state.answerLength += text.length;
    this.#state.out.push({ type: 'text', choice: 0, block: this.#index, text });
  }
}

class ThinkingReader implements BlockReader {
  readonly #state: ReplyState;
  readonly #index: number;
  #signature: string | undefined;
  #shown = false;

  constructor(block: JsonObject, index: number, state: ReplyState) {
    this.#state = state;
    this.#index = index;
    this.#signature = stringOf(block.signature);
    this.#think(stringOf(block.thinking));
  }

  delta(delta: JsonObject): void {
    if (delta.type === 'thinking_delta') this.#think(stringOf(delta.thinking));
    // A later signature replaces an earlier one, as in the SDK's accumulator (docs/protocols/anthropic-messages.md#sdk-accumulator).
    else if (delta.type === 'signature_delta') this.#signature = stringOf(delta.signature);
  }

  /** Measured: 19 recorded blocks are empty but signed. The empty text creates a part for the signature. */
  close(): void {
    const place = { choice: 0, block: this.#index };
    if (!this.#shown) this.#state.out.push({ type: 'thinking', ...place, text: '' });
    if (this.#signature) this.#state.out.push({ type: 'signature', ...place, signature: this.#signature });
  }

  #think(text: string | undefined): void {
    if (!text) return;
    this.#shown = true;
    this.#state.out.push({ type: 'thinking', choice: 0, block: this.#index, text });
  }
}

/** The JSON of a tool's input: streamed as text, or an object in the block that opens it. */
abstract class InputReader implements BlockReader {
  protected readonly state: ReplyState;
  protected readonly index: number;
  readonly #input: unknown;
  #empty = true;

  constructor(block: JsonObject, index: number, state: ReplyState) {
    this.state = state;
    this.index = index;
    this.#input = block.input;
  }

  delta(delta: JsonObject): void {
    const json = delta.type === 'input_json_delta' ? stringOf(delta.partial_json) : undefined;
    if (!json) return;
    this.#empty = false;
    this.json(json);
  }

  /** Without any argument bytes, the input is that of the opening block, or `{}` (measured: 7 streamed calls). */
  close(): void {
    this.json(this.#empty ? JSON.stringify(this.#input ?? {}) : '', true);
  }

  protected abstract json(text: string, last?: boolean): void;
}

class ToolUseReader extends InputReader {
  protected readonly call: number;

  constructor(block: JsonObject, index: number, state: ReplyState, custom = false) {
    super(block, index, state);
    this.call = state.calls++;
    const id = stringOf(block.id) || state.reply.newCallId();
    const name = stringOf(block.name) ?? '';
    state.out.push({
      type: 'tool_call',
      choice: 0,
      block: index,
      call: this.call,
      id,
      name,
      ...(custom && { custom }),
    });
    pushFields(state, index, fieldsOf(withoutDirectCaller(block), KNOWN.call));
  }

  protected json(text: string, last?: boolean): void {
    this.state.out.push({ type: 'tool_arguments', choice: 0, call: this.call, text, ...(last && { last }) });
  }
}

/** The text of a free-text tool, sent as one string `input` (docs/protocols/requests.md#custom-tool). */
class CustomCallReader extends ToolUseReader {
  #json = '';

  constructor(block: JsonObject, index: number, state: ReplyState) {
    super(block, index, state, true);
  }

  protected override json(text: string, last?: boolean): void {
    this.#json += text;
    if (last) super.json(unwrapInput(this.#json), last);
  }
}

/** The forced tool of a JSON-schema answer: its arguments are the text of the answer (docs/protocols/requests.md#the-json-tool). */
class JsonAnswerReader extends InputReader {
  constructor(block: JsonObject, index: number, state: ReplyState) {
    super(block, index, state);
    state.jsonAnswers += 1;
  }

  protected json(text: string): void {
    if (text === '') return;
    this.state.answerLength += text.length;
    this.state.out.push({ type: 'text', choice: 0, block: this.index, text });
  }
}

/**
 * A block that only this format understands, or a part of a call of an MCP server. It is passed on when it is complete, so its streamed
 * input never counts as arguments of a call (docs/protocols/messages-route.md#opaque-input).
 */
class OpaqueReader implements BlockReader {
  readonly #state: ReplyState;
  readonly #index: number;
  readonly #block: JsonObject;
  #json = '';

  constructor(block: JsonObject, index: number, state: ReplyState) {
    this.#state = state;
    this.#index = index;
    this.#block = { ...block };
  }

  delta(delta: JsonObject): void {
    if (delta.type === 'input_json_delta') {
      this.#json += stringOf(delta.partial_json) ?? '';
      return;
    }
    for (const [key, value] of Object.entries(delta)) {
      if (key === 'type') continue;
      const held = Object.hasOwn(this.#block, key) ? this.#block[key] : undefined;
      setField(this.#block, key, typeof held === 'string' && typeof value === 'string' ? held + value : value);
    }
  }

  close(): void {
    const input = this.#json === '' ? undefined : parseJson(this.#json);
    const block = input === undefined ? this.#block : { ...this.#block, input };
    const part = mcpPart(block);
    if (!part) return pushOpaque(this.#state, this.#index, block);
    // As the model wrote them: a parsed number may have lost digits.
    const args = part.type === 'mcp_call' && input !== undefined ? { arguments: this.#json } : {};
    this.#state.out.push({ ...part, ...args, choice: 0, block: this.#index });
  }
}

function pushFields(state: ReplyState, block: number, value: JsonObject | undefined): void {
  if (!value) return;
  state.out.push({ type: 'opaque', choice: 0, block, format: 'anthropic-messages', value, attached: true });
}

export function pushOpaque(state: ReplyState, block: number, value: JsonObject): void {
  state.out.push({ type: 'opaque', choice: 0, block, format: 'anthropic-messages', value });
}
