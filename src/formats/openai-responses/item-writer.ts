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
  readonly form: CallForm;
  /** The members between its status and its arguments. */
  readonly fields: string;
  readonly name: string;
  readonly text: WrittenText;
}
type OpenItem = (ReasoningItem | MessageItem | CallItem) & {
  readonly id: string;
  readonly index: number;
  head: string;
};

/** How an item names its call and the arguments. */
interface CallForm {
  readonly type: string;
  /** The member of the arguments in the item as it is announced. */
  readonly begun: string;
  /** The same member of the item that is whole. */
  readonly whole: (args: string) => string;
  /** The events of a piece of the arguments, and of all of them. Undefined: they come with the whole item. */
  readonly delta?: string;
  readonly done?: string;
  /** The last event of the arguments names the function. */
  readonly namesFunction?: true;
}

/** `{"type":"function_call","status":"completed","call_id":"c1","name":"add","arguments":"{\"a\":1}"}` */
const CALLS: Readonly<Record<EchoedTool['kind'], CallForm>> = {
  function: {
    type: 'function_call',
    begun: '"arguments":""',
    whole: (args) => `"arguments":${jsonBytes(args === '' ? '{}' : args)}`,
    delta: 'function_call_arguments.delta',
    done: 'function_call_arguments.done',
    namesFunction: true,
  },
  custom: {
    type: 'custom_tool_call',
    begun: '"input":""',
    whole: (input) => `"input":${jsonBytes(input)}`,
    delta: 'custom_tool_call_input.delta',
    done: 'custom_tool_call_input.done',
  },
  tool_search: {
    type: 'tool_search_call',
    begun: '"arguments":{}',
    whole: (args) => {
      const given = parseJson(args);
      return `"arguments":${jsonBytes(isObject(given) ? given : {})}`;
    },
  },
};

/** A literal may hold the whole read that it was cut from. */
const LITERALS_APART = 16;

/** Prefixes of the ids of items, by the type of the item. */
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
 *
 * | Item             | Opened by         | Events of its content, in order                                                    |
 * | ---------------- | ----------------- | ---------------------------------------------------------------------------------- |
 * | message          | `text`, `refusal` | `content_part.added`, `output_text.delta`…, `output_text.done`, `content_part.done` |
 * | reasoning        | `thinking`        | `reasoning_summary_part.added`, `reasoning_summary_text.delta`…, `.done` of both    |
 * | function_call    | `call`            | `function_call_arguments.delta`…, `function_call_arguments.done`                    |
 * | custom_tool_call | `call`            | `custom_tool_call_input.delta`…, `custom_tool_call_input.done`                      |
 * | tool_search_call | `call`            | none                                                                               |
 * | any other        | `whole`           | none                                                                               |
 *
 * `output_item.added` comes before these events, `output_item.done` after them. `text('Hi'); close()` leaves in `output`:
 *
 *     {"id":"msg_…0000","type":"message","status":"completed","role":"assistant",
 *      "content":[{"type":"output_text","annotations":[],"logprobs":[],"text":"Hi"}]}
 */
export class ItemWriter {
  /** The items that are whole. */
  readonly output: string[] = [];
  readonly #stream: ResponseEvents | undefined;
  /** The part that the ids of the items have in common with that of the response. */
  readonly #family: string;
  readonly #showThoughts: boolean;
  #open: OpenItem | undefined;
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
    const form = CALLS[kind];
    const space = namespace === undefined ? '' : `,"namespace":${jsonBytes(namespace)}`;
    const named = kind === 'tool_search' ? '"execution":"client"' : `"name":${jsonBytes(name)}${space}`;
    const fields = `,"call_id":${jsonBytes(id)},${named}`;
    const state: CallItem = { kind: 'call', form, fields, name, text: new WrittenText() };
    this.#begin(state, form.type, `,"status":"in_progress"${fields},${form.begun}`);
  }

  arguments(text: string): void {
    const open = this.#open;
    if (text === '' || open?.kind !== 'call') return;
    open.text.add(text);
    const { delta } = open.form;
    if (delta !== undefined) this.#stream?.delta(delta, open.head, literalOf(text));
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
  #begin<T extends ReasoningItem | MessageItem | CallItem>(state: T, type: string, members: string): T & OpenItem {
    const id = this.#newId(type);
    const index = this.output.length;
    const open = { ...state, id, index, head: `"item_id":"${id}","output_index":${index}` };
    this.#open = open as T & OpenItem;
    const item = `{"id":"${id}","type":"${type}"${members}}`;
    this.#stream?.event('output_item.added', `"output_index":${index},"item":${item}`);
    return open as T & OpenItem;
  }

  /** Ids are unique in the gateway and the same for a response and its items. */
  #newId(type: string): string {
    return `${PREFIXES[type] ?? 'item'}_${this.#family}${this.output.length.toString(16).padStart(4, '0')}`;
  }

  #reasoning(block: number): ReasoningItem & OpenItem {
    if (this.#open?.kind === 'reasoning' && this.#open.block === block) return this.#open;
    this.close();
    const state: ReasoningItem = { kind: 'reasoning', block, text: new WrittenText(), encrypted: undefined };
    const item = this.#begin(state, 'reasoning', ',"summary":[]');
    item.head = '';
    return item;
  }

  #openSummary(item: ReasoningItem & OpenItem): void {
    item.head = `"item_id":"${item.id}","output_index":${item.index},"summary_index":0`;
    if (!this.#showThoughts) return;
    this.#stream?.event('reasoning_summary_part.added', `${item.head},"part":{"type":"summary_text","text":""}`);
  }

  #part(type: OpenPart['type'], phase: string | undefined): OpenPart {
    const open = this.#message(type, phase);
    return open.part?.type === type ? open.part : this.#openPart(open, type);
  }

  #message(type: OpenPart['type'], phase: string | undefined): MessageItem & OpenItem {
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

  #openPart(open: MessageItem & OpenItem, type: OpenPart['type']): OpenPart {
    this.#closePart(open);
    const head = `${open.head},"content_index":${open.content.length}`;
    this.#stream?.event('content_part.added', `${head},"part":${partOf(type, '', EMPTY)}`);
    return (open.part = { type, text: new WrittenText(LITERALS_APART), annotations: [], logprobs: [], head });
  }

  #closePart(open: MessageItem & OpenItem): void {
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
  #closed(open: OpenItem, status: 'completed' | 'incomplete'): string {
    switch (open.kind) {
      case 'message': {
        this.#closePart(open);
        const content = open.content.length === 1 ? open.content[0]! : open.content.join(',');
        return `"type":"message","status":"${status}"${ofAssistant(open.phase)},"content":[${content}]`;
      }
      case 'reasoning':
        return this.#closedReasoning(open);
      case 'call':
        return `"type":"${open.form.type}","status":"${status}"${open.fields},${this.#closedCall(open)}`;
    }
  }

  #closedReasoning({ head, text: written, encrypted }: ReasoningItem & OpenItem): string {
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
  #closedCall({ head, name, form, text: written }: CallItem & OpenItem): string {
    const args = form.whole(written.take());
    const named = form.namesFunction ? `,"name":${jsonBytes(name)}` : '';
    if (form.done !== undefined) this.#stream?.event(form.done, `${head},${args}${named}`);
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
