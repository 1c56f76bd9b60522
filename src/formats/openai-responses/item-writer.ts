import type { JsonObject } from '../conversation.ts';
import type { LogprobToken, UrlCitation } from '../events.ts';
import type { EchoedTool } from '../format.ts';
import { parseJson } from '../json/read.ts';
import { isObject } from '../json/object.ts';
import { WrittenText } from '../json/written-text.ts';
import { PartText } from './part-text.ts';
import type { ResponseSink } from './response-sink.ts';

interface ReasoningItem {
  readonly kind: 'reasoning';
  readonly block: number;
  readonly text: WrittenText;
  encrypted: ((text: string) => string) | undefined;
}
interface OpenPart {
  readonly type: 'output_text' | 'refusal';
  readonly text: PartText;
  readonly annotations: JsonObject[];
  readonly logprobs: JsonObject[];
  head: string;
}
interface MessageItem {
  readonly kind: 'message';
  readonly phase: string | undefined;
  readonly content: JsonObject[];
  /** UTF-16 units of the answer before this message: citations count from the start of the answer. */
  readonly offset: number;
  part: OpenPart | undefined;
}
interface CallItem {
  readonly kind: 'call';
  readonly call: number;
  readonly fields: JsonObject;
  readonly form: EchoedTool['kind'];
  readonly text: WrittenText;
}
type Open = (ReasoningItem | MessageItem | CallItem) & { readonly id: string; readonly index: number; head: string };

/** What stands in front of the id of an item, by its type. */
const PREFIXES: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  custom_tool_call: 'ctc',
  tool_search_call: 'tsc',
  web_search_call: 'ws',
  code_interpreter_call: 'ci',
  image_generation_call: 'ig',
};

/** What an event of text has after its delta. */
const AFTER_TEXT = ',"logprobs":[]';

/**
 * Writes the items of a response, one at a time, with the events that announce them. An item is whole once the next one opens
 * (docs/protocols/openai-responses.md#stream).
 */
export class ItemWriter {
  readonly output: JsonObject[] = [];
  readonly #sink: ResponseSink;
  readonly #responseId: string;
  readonly #showThoughts: boolean;
  #open: Open | undefined;
  /** UTF-16 units of the texts that are whole. */
  #written = 0;

  constructor(sink: ResponseSink, responseId: string, showThoughts: boolean) {
    this.#sink = sink;
    this.#responseId = responseId;
    this.#showThoughts = showThoughts;
  }

  thinking(block: number, text: string): void {
    const item = this.#reasoning(block);
    if (text === '') return;
    if (item.head === '') this.#openSummary(item);
    item.text.add(text);
    if (this.#showThoughts) this.#sink.delta('reasoning_summary_text.delta', item.head, text, '');
  }

  /** @param encrypt makes the value of `encrypted_content` of the whole text */
  sign(block: number, encrypt: (text: string) => string): boolean {
    if (this.#open?.kind !== 'reasoning' || this.#open.block !== block) return false;
    this.#open.encrypted = encrypt;
    return true;
  }

  /** A reasoning item that only carries what its maker encrypted. */
  encrypted(encrypted_content: string): void {
    this.whole({ type: 'reasoning', summary: [], encrypted_content });
  }

  text(text: string, phase: string | undefined): void {
    if (text === '') return;
    const part = this.#part('output_text', phase);
    part.text.add(text);
    this.#sink.delta('output_text.delta', part.head, text, AFTER_TEXT);
  }

  /** @param literals a text in pieces, as JSON literals with one character per byte; at least one is not empty */
  literals(literals: readonly string[], phase: string | undefined): void {
    const part = this.#part('output_text', phase);
    part.text.addLiterals(literals);
    this.#sink.deltas('output_text.delta', part.head, literals, AFTER_TEXT);
  }

  refusal(text: string): void {
    if (text === '') return;
    const part = this.#part('refusal', undefined);
    part.text.add(text);
    this.#sink.delta('refusal.delta', part.head, text, '');
  }

  cite({ url, title = '', start, end }: UrlCitation): boolean {
    const open = this.#open;
    if (open?.kind !== 'message' || open.part?.type !== 'output_text') return false;
    const annotation: JsonObject = {
      type: 'url_citation',
      url,
      title,
      start_index: Math.max(0, start - open.offset),
      end_index: Math.max(0, end - open.offset),
    };
    const { part } = open;
    const place = { item_id: open.id, output_index: open.index, content_index: open.content.length };
    const annotation_index = part.annotations.push(annotation) - 1;
    this.#sink.event('output_text.annotation.added', { ...place, annotation_index, annotation });
    return true;
  }

  logprobs(tokens: readonly LogprobToken[]): boolean {
    const open = this.#open;
    if (open?.kind !== 'message' || open.part?.type !== 'output_text') return false;
    for (const token of tokens) open.part.logprobs.push(encodeToken(token));
    return true;
  }

  call(call: number, id: string, tool: EchoedTool): void {
    this.close();
    const { name, namespace, kind } = tool;
    const of = namespace === undefined ? { name } : { name, namespace };
    const type = kind === 'function' ? 'function_call' : kind === 'custom' ? 'custom_tool_call' : 'tool_search_call';
    const fields: JsonObject =
      kind === 'tool_search'
        ? { type, status: 'in_progress', call_id: id, execution: 'client' }
        : { type, status: 'in_progress', call_id: id, ...of };
    const argument = kind === 'custom' ? { input: '' } : { arguments: kind === 'function' ? '' : {} };
    this.#begin({ kind: 'call', call, fields, form: kind, text: new WrittenText() }, { ...fields, ...argument });
  }

  arguments(call: number, text: string): void {
    const open = this.#open;
    if (text === '' || open?.kind !== 'call' || open.call !== call) return;
    open.text.add(text);
    if (open.form === 'tool_search') return;
    const name = open.form === 'custom' ? 'custom_tool_call_input.delta' : 'function_call_arguments.delta';
    this.#sink.delta(name, open.head, text, '');
  }

  /** An item that arrives at once. */
  whole(item: JsonObject): void {
    this.close();
    const output_index = this.output.length;
    const type = String(item.type);
    const named = typeof item.id === 'string' ? item : { id: this.#newId(type), ...item };
    // OpenAI announces reasoning without what it encrypts.
    const { encrypted_content: _, ...announced } = named;
    this.#sink.event('output_item.added', { output_index, item: type === 'reasoning' ? announced : named });
    this.#sink.event('output_item.done', { output_index, item: named });
    this.output.push(named);
  }

  /** @param status `incomplete` for the item at which the answer's limit stopped the model */
  close(status: 'completed' | 'incomplete' = 'completed'): void {
    const open = this.#open;
    if (!open) return;
    this.#open = undefined;
    const item = this.#closed(open, status);
    this.#sink.event('output_item.done', { output_index: open.index, item });
    this.output.push(item);
  }

  get isEmpty(): boolean {
    return this.output.length === 0 && this.#open === undefined;
  }

  #begin<T extends ReasoningItem | MessageItem | CallItem>(state: T, item: JsonObject): T & Open {
    const id = this.#newId(String(item.type));
    const index = this.output.length;
    const open = { ...state, id, index, head: `"item_id":"${id}","output_index":${index}` };
    this.#open = open as T & Open;
    this.#sink.event('output_item.added', { output_index: index, item: { id, ...item } });
    return open as T & Open;
  }

  /** Ids are unique in the gateway and the same for a response and its items. */
  #newId(type: string): string {
    const hex = this.#responseId.replace(/^resp_/, '').slice(0, 28);
    return `${PREFIXES[type] ?? 'item'}_${hex}${this.output.length.toString(16).padStart(4, '0')}`;
  }

  #reasoning(block: number): ReasoningItem & Open {
    if (this.#open?.kind === 'reasoning' && this.#open.block === block) return this.#open;
    this.close();
    const state: ReasoningItem = { kind: 'reasoning', block, text: new WrittenText(), encrypted: undefined };
    const item = this.#begin(state, { type: 'reasoning', summary: [] });
    item.head = '';
    return item;
  }

  #openSummary(item: ReasoningItem & Open): void {
    const place = { item_id: item.id, output_index: item.index, summary_index: 0 };
    item.head = `"item_id":"${item.id}","output_index":${item.index},"summary_index":0`;
    if (!this.#showThoughts) return;
    this.#sink.event('reasoning_summary_part.added', { ...place, part: { type: 'summary_text', text: '' } });
  }

  #part(type: OpenPart['type'], phase: string | undefined): OpenPart {
    const open = this.#message(type, phase);
    return open.part?.type === type ? open.part : this.#openPart(open, type);
  }

  #message(type: OpenPart['type'], phase: string | undefined): MessageItem & Open {
    if (this.#open?.kind === 'message' && (type === 'refusal' || this.#open.phase === phase)) return this.#open;
    this.close();
    const state: MessageItem = { kind: 'message', phase, content: [], offset: this.#written, part: undefined };
    const fields = { type: 'message', status: 'in_progress', role: 'assistant', ...(phase && { phase }) };
    return this.#begin(state, { ...fields, content: [] });
  }

  #openPart(open: MessageItem & Open, type: OpenPart['type']): OpenPart {
    this.#closePart(open);
    const content_index = open.content.length;
    const head = `${open.head},"content_index":${content_index}`;
    const part = type === 'output_text' ? { type, annotations: [], logprobs: [], text: '' } : { type, refusal: '' };
    this.#sink.event('content_part.added', { item_id: open.id, output_index: open.index, content_index, part });
    return (open.part = { type, text: new PartText(), annotations: [], logprobs: [], head });
  }

  #closePart(open: MessageItem & Open): void {
    if (!open.part) return;
    const { type, annotations, logprobs } = open.part;
    const text = open.part.text.take();
    if (type === 'output_text') this.#written += text.length;
    open.part = undefined;
    const place = { item_id: open.id, output_index: open.index, content_index: open.content.length };
    const part: JsonObject = type === 'output_text' ? { type, annotations, logprobs, text } : { type, refusal: text };
    if (type === 'output_text') this.#sink.event('output_text.done', { ...place, text, logprobs });
    else this.#sink.event('refusal.done', { ...place, refusal: text });
    this.#sink.event('content_part.done', { ...place, part });
    open.content.push(part);
  }

  #closed(open: Open, status: 'completed' | 'incomplete'): JsonObject {
    switch (open.kind) {
      case 'message': {
        this.#closePart(open);
        const { id, phase, content } = open;
        return { id, type: 'message', status, role: 'assistant', ...(phase && { phase }), content };
      }
      case 'reasoning':
        return this.#closedReasoning(open);
      case 'call':
        return this.#closedCall(open, status);
    }
  }

  #closedReasoning({ id, index, head, text: written, encrypted }: ReasoningItem & Open): JsonObject {
    const text = written.take();
    const encrypted_content = encrypted?.(text);
    const place = { item_id: id, output_index: index, summary_index: 0 };
    const part = { type: 'summary_text', text };
    const isShown = head !== '' && this.#showThoughts;
    if (isShown) {
      this.#sink.event('reasoning_summary_text.done', { ...place, text });
      this.#sink.event('reasoning_summary_part.done', { ...place, part });
    }
    return { id, type: 'reasoning', summary: isShown ? [part] : [], ...(encrypted_content && { encrypted_content }) };
  }

  #closedCall({ id, index, fields, form, text: written }: CallItem & Open, status: string): JsonObject {
    const text = written.take();
    const place = { item_id: id, output_index: index };
    if (form === 'custom') {
      this.#sink.event('custom_tool_call_input.done', { ...place, input: text });
      return { id, ...fields, status, input: text };
    }
    if (form === 'tool_search') {
      const given = parseJson(text);
      return { id, ...fields, status, arguments: isObject(given) ? given : {} };
    }
    const args = text === '' ? '{}' : text;
    this.#sink.event('function_call_arguments.done', { ...place, arguments: args, name: fields.name });
    return { id, ...fields, status, arguments: args };
  }
}

function encodeToken({ token, logprob, bytes, top = [] }: LogprobToken): JsonObject {
  const bytesOf = (text: string, given: LogprobToken['bytes']): readonly number[] => given ?? [...Buffer.from(text)];
  return {
    token,
    logprob,
    bytes: bytesOf(token, bytes),
    top_logprobs: top.map((other) => ({
      token: other.token,
      logprob: other.logprob,
      bytes: bytesOf(other.token, other.bytes),
    })),
  };
}
