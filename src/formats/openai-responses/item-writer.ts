import type { JsonObject } from '../conversation.ts';
import type { LogprobToken, UrlCitation } from '../events.ts';
import type { EchoedTool } from '../format.ts';
import { jsonBytes, literalOf, textLength } from '../json/literal.ts';
import { parseJson } from '../json/read.ts';
import { isObject } from '../json/object.ts';
import { WrittenText } from '../json/written-text.ts';
import { TEXT_DELTA, type ResponseEvents } from './response-events.ts';

interface ReasoningItem {
  readonly kind: 'reasoning';
  readonly block: number;
  readonly text: WrittenText;
  encrypted: ((text: string) => string) | undefined;
}
interface OpenPart {
  readonly type: 'output_text' | 'refusal';
  /** Literals. */
  readonly text: WrittenText;
  readonly annotations: string[];
  readonly logprobs: string[];
  readonly head: string;
}
interface MessageItem {
  readonly kind: 'message';
  readonly phase: string | undefined;
  readonly content: string[];
  /** UTF-16 units of the answer before this message: citations count from the start of the answer. */
  readonly offset: number;
  part: OpenPart | undefined;
}
interface CallItem {
  readonly kind: 'call';
  readonly type: string;
  /** The members between its status and its arguments. */
  readonly fields: string;
  readonly name: string;
  readonly form: EchoedTool['kind'];
  readonly text: WrittenText;
}
type Open = (ReasoningItem | MessageItem | CallItem) & { readonly id: string; readonly index: number; head: string };

/** A literal may hold the whole read that it was cut from. */
const LITERALS_APART = 16;

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
  mcp_call: 'mcp',
};

/** An item that has its place in the response and is not whole yet. */
export interface PlacedItem {
  readonly id: string;
  readonly index: number;
  /** The members by which its events name it. */
  readonly head: string;
}

/**
 * Writes the items of a response, one at a time, with the events that announce them. An item is whole once the next one opens
 * (docs/protocols/openai-responses.md#stream): fragments of a call come before that (streams/call-order.ts). Items are JSON with one
 * character per byte (json/literal.ts): a text is in four events.
 */
export class ItemWriter {
  /** The items that are whole. */
  readonly output: string[] = [];
  readonly #stream: ResponseEvents | undefined;
  /** What the ids of the items have in common with that of the response. */
  readonly #family: string;
  readonly #showThoughts: boolean;
  #open: Open | undefined;
  /** UTF-16 units of the texts of earlier messages. */
  #written = 0;
  /** Texts that are whole and not counted yet: only a second message needs their length. */
  #uncounted: string[] = [];

  /** @param stream undefined for a plain reply: no event is written */
  constructor(stream: ResponseEvents | undefined, responseId: string, showThoughts: boolean) {
    this.#stream = stream;
    this.#family = responseId.replace(/^resp_/, '').slice(0, 28);
    this.#showThoughts = showThoughts;
  }

  thinking(block: number, text: string): void {
    const item = this.#reasoning(block);
    if (text === '') return;
    if (item.head === '') this.#openSummary(item);
    item.text.add(text);
    if (this.#showThoughts) this.#stream?.delta('reasoning_summary_text.delta', item.head, literalOf(text));
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
    if (text !== '') this.literal(literalOf(text), phase);
  }

  /** @param literal not empty (json/literal.ts) */
  literal(literal: string, phase: string | undefined): void {
    this.#add(this.#part('output_text', phase), TEXT_DELTA, literal);
  }

  refusal(text: string): void {
    if (text !== '') this.#add(this.#part('refusal', undefined), 'refusal.delta', literalOf(text));
  }

  #add({ text, head }: OpenPart, name: string, literal: string): void {
    text.add(literal);
    this.#stream?.delta(name, head, literal);
  }

  cite({ url, title = '', start, end }: UrlCitation): boolean {
    const open = this.#open;
    if (open?.kind !== 'message' || open.part?.type !== 'output_text') return false;
    const annotation = jsonBytes({
      type: 'url_citation',
      url,
      title,
      start_index: Math.max(0, start - open.offset),
      end_index: Math.max(0, end - open.offset),
    });
    const { annotations, head } = open.part;
    const at = annotations.push(annotation) - 1;
    this.#stream?.event('output_text.annotation.added', `${head},"annotation_index":${at},"annotation":${annotation}`);
    return true;
  }

  logprobs(tokens: readonly LogprobToken[]): boolean {
    const open = this.#open;
    if (open?.kind !== 'message' || open.part?.type !== 'output_text') return false;
    for (const token of tokens) open.part.logprobs.push(jsonBytes(encodeToken(token)));
    return true;
  }

  call(id: string, { name, namespace, kind }: EchoedTool): void {
    this.close();
    const type = kind === 'function' ? 'function_call' : kind === 'custom' ? 'custom_tool_call' : 'tool_search_call';
    const space = namespace === undefined ? '' : `,"namespace":${jsonBytes(namespace)}`;
    const of = kind === 'tool_search' ? ',"execution":"client"' : `,"name":${jsonBytes(name)}${space}`;
    const fields = `,"call_id":${jsonBytes(id)}${of}`;
    const argument = kind === 'custom' ? '"input":""' : `"arguments":${kind === 'function' ? '""' : '{}'}`;
    const state: CallItem = { kind: 'call', type, fields, name, form: kind, text: new WrittenText() };
    this.#begin(state, type, `,"status":"in_progress"${fields},${argument}`);
  }

  arguments(text: string): void {
    const open = this.#open;
    if (text === '' || open?.kind !== 'call') return;
    open.text.add(text);
    if (open.form === 'tool_search') return;
    const name = open.form === 'custom' ? 'custom_tool_call_input.delta' : 'function_call_arguments.delta';
    this.#stream?.delta(name, open.head, literalOf(text));
  }

  /** An item that arrives at once. */
  whole(item: JsonObject): void {
    this.close();
    const index = this.output.length;
    const type = String(item.type);
    const named = typeof item.id === 'string' ? item : { id: this.#newId(type), ...item };
    const json = jsonBytes(named);
    this.#stream?.event('output_item.added', `"output_index":${index},"item":${announced(named) ?? json}`);
    this.#done(index, json);
  }

  /** Announces an item that is filled later, while other items open. */
  place(announced: JsonObject): PlacedItem {
    this.close();
    const [id, index] = [this.#newId(String(announced.type)), this.output.length];
    this.output.push('');
    this.#stream?.event('output_item.added', `"output_index":${index},"item":${jsonBytes({ id, ...announced })}`);
    return { id, index, head: `"item_id":"${id}","output_index":${index}` };
  }

  fill({ id, index }: PlacedItem, fields: JsonObject): void {
    const item = jsonBytes({ id, ...fields });
    this.#stream?.event('output_item.done', `"output_index":${index},"item":${item}`);
    this.output[index] = item;
  }

  /** @param status `incomplete` for the item at which the answer's limit stopped the model */
  close(status: 'completed' | 'incomplete' = 'completed'): void {
    const open = this.#open;
    if (!open) return;
    this.#open = undefined;
    this.#done(open.index, `{"id":"${open.id}",${this.#closed(open, status)}}`);
  }

  #done(index: number, item: string): void {
    this.#stream?.event('output_item.done', `"output_index":${index},"item":${item}`);
    this.output.push(item);
  }

  get isEmpty(): boolean {
    return this.output.length === 0 && this.#open === undefined;
  }

  /** @param members of the item as it is announced, behind its type */
  #begin<T extends ReasoningItem | MessageItem | CallItem>(state: T, type: string, members: string): T & Open {
    const id = this.#newId(type);
    const index = this.output.length;
    const open = { ...state, id, index, head: `"item_id":"${id}","output_index":${index}` };
    this.#open = open as T & Open;
    const item = `{"id":"${id}","type":"${type}"${members}}`;
    this.#stream?.event('output_item.added', `"output_index":${index},"item":${item}`);
    return open as T & Open;
  }

  /** Ids are unique in the gateway and the same for a response and its items. */
  #newId(type: string): string {
    return `${PREFIXES[type] ?? 'item'}_${this.#family}${this.output.length.toString(16).padStart(4, '0')}`;
  }

  #reasoning(block: number): ReasoningItem & Open {
    if (this.#open?.kind === 'reasoning' && this.#open.block === block) return this.#open;
    this.close();
    const state: ReasoningItem = { kind: 'reasoning', block, text: new WrittenText(), encrypted: undefined };
    const item = this.#begin(state, 'reasoning', ',"summary":[]');
    item.head = '';
    return item;
  }

  #openSummary(item: ReasoningItem & Open): void {
    item.head = `"item_id":"${item.id}","output_index":${item.index},"summary_index":0`;
    if (!this.#showThoughts) return;
    this.#stream?.event('reasoning_summary_part.added', `${item.head},"part":{"type":"summary_text","text":""}`);
  }

  #part(type: OpenPart['type'], phase: string | undefined): OpenPart {
    const open = this.#message(type, phase);
    return open.part?.type === type ? open.part : this.#openPart(open, type);
  }

  #message(type: OpenPart['type'], phase: string | undefined): MessageItem & Open {
    if (this.#open?.kind === 'message' && (type === 'refusal' || this.#open.phase === phase)) return this.#open;
    this.close();
    const state: MessageItem = { kind: 'message', phase, content: [], offset: this.#counted(), part: undefined };
    return this.#begin(state, 'message', `,"status":"in_progress"${ofAssistant(phase)},"content":[]`);
  }

  #counted(): number {
    for (const literal of this.#uncounted) this.#written += textLength(literal);
    this.#uncounted = [];
    return this.#written;
  }

  #openPart(open: MessageItem & Open, type: OpenPart['type']): OpenPart {
    this.#closePart(open);
    const head = `${open.head},"content_index":${open.content.length}`;
    this.#stream?.event('content_part.added', `${head},"part":${partOf(type, '', EMPTY)}`);
    return (open.part = { type, text: new WrittenText(LITERALS_APART), annotations: [], logprobs: [], head });
  }

  #closePart(open: MessageItem & Open): void {
    if (!open.part) return;
    const { type, head } = open.part;
    const text = open.part.text.take();
    const json = partOf(type, text, open.part);
    if (type === 'output_text') {
      this.#uncounted.push(text);
      this.#stream?.event('output_text.done', `${head},"text":"${text}","logprobs":[${open.part.logprobs.join(',')}]`);
    } else this.#stream?.event('refusal.done', `${head},"refusal":"${text}"`);
    this.#stream?.event('content_part.done', `${head},"part":${json}`);
    open.part = undefined;
    open.content.push(json);
  }

  /** The members of an item that is whole, behind its id. */
  #closed(open: Open, status: 'completed' | 'incomplete'): string {
    switch (open.kind) {
      case 'message': {
        this.#closePart(open);
        const content = open.content.length === 1 ? open.content[0]! : open.content.join(',');
        return `"type":"message","status":"${status}"${ofAssistant(open.phase)},"content":[${content}]`;
      }
      case 'reasoning':
        return this.#closedReasoning(open);
      case 'call':
        return `"type":"${open.type}","status":"${status}"${open.fields},${this.#closedCall(open)}`;
    }
  }

  #closedReasoning({ head, text: written, encrypted }: ReasoningItem & Open): string {
    const text = written.take();
    const encrypted_content = encrypted?.(text);
    const part = `{"type":"summary_text","text":${jsonBytes(text)}}`;
    const isShown = head !== '' && this.#showThoughts;
    if (isShown) {
      this.#stream?.event('reasoning_summary_text.done', `${head},"text":${jsonBytes(text)}`);
      this.#stream?.event('reasoning_summary_part.done', `${head},"part":${part}`);
    }
    const given = encrypted_content ? `,"encrypted_content":${jsonBytes(encrypted_content)}` : '';
    return `"type":"reasoning","summary":[${isShown ? part : ''}]${given}`;
  }

  /** The member with its arguments. */
  #closedCall({ head, name, form, text: written }: CallItem & Open): string {
    const text = written.take();
    if (form === 'custom') {
      const input = `"input":${jsonBytes(text)}`;
      this.#stream?.event('custom_tool_call_input.done', `${head},${input}`);
      return input;
    }
    if (form === 'tool_search') {
      const given = parseJson(text);
      return `"arguments":${jsonBytes(isObject(given) ? given : {})}`;
    }
    const args = `"arguments":${jsonBytes(text === '' ? '{}' : text)}`;
    this.#stream?.event('function_call_arguments.done', `${head},${args},"name":${jsonBytes(name)}`);
    return args;
  }
}

/** OpenAI announces reasoning without what it encrypts. Undefined: the item is announced as it is. */
function announced(item: JsonObject): string | undefined {
  if (item.type !== 'reasoning') return undefined;
  const { encrypted_content: _, ...others } = item;
  return jsonBytes(others);
}

const ofAssistant = (phase: string | undefined): string =>
  phase ? `,"role":"assistant","phase":${jsonBytes(phase)}` : ',"role":"assistant"';

const EMPTY = { annotations: [], logprobs: [] } as const;

/** @param text a literal */
function partOf(
  type: OpenPart['type'],
  text: string,
  { annotations, logprobs }: { readonly [K in 'annotations' | 'logprobs']: readonly string[] },
): string {
  if (type === 'refusal') return `{"type":"refusal","refusal":"${text}"}`;
  return `{"type":"output_text","annotations":[${annotations.join(',')}],"logprobs":[${logprobs.join(',')}],"text":"${text}"}`;
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
