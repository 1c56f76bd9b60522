import type { JsonObject } from '../conversation.ts';
import type { LogprobToken, UrlCitation } from '../events.ts';
import type { EchoedTool } from '../format.ts';
import { jsonBytes, literalOf, textLength } from '../json/literal.ts';
import { CallHead, CallItem } from './call-item.ts';
import { MessageItem } from './message-item.ts';
import { ReasoningItem } from './reasoning-item.ts';
import type { ItemPlace, ResponseEvents } from './response-events.ts';

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
 * | any other        | `whole`, `place`  | none                                                                               |
 *
 * `output_item.added` comes before these events, `output_item.done` after them. `text('Hi'); close()` leaves in `output`:
 *
 *     {"id":"msg_…0000","type":"message","status":"completed","role":"assistant",
 *      "content":[{"type":"output_text","annotations":[],"logprobs":[],"text":"Hi"}]}
 */
export class ItemWriter {
  /** The items in order, as JSON. One that is not whole yet is empty. */
  readonly output: string[] = [];
  readonly #stream: ResponseEvents | undefined;
  /** The part that the ids of the items have in common with that of the response. */
  readonly #family: string;
  readonly #showThoughts: boolean;
  #open: MessageItem | ReasoningItem | CallItem | undefined;
  /** UTF-16 units of the texts of earlier messages. */
  #written = 0;
  /** Texts that are whole and not counted yet: only a second message needs their length. */
  #uncounted: readonly string[] = [];

  /** @param stream undefined for a plain reply: no event is written */
  constructor(stream: ResponseEvents | undefined, responseId: string, showThoughts: boolean) {
    this.#stream = stream;
    this.#family = responseId.replace(/^resp_/, '').slice(0, 28);
    this.#showThoughts = showThoughts;
  }

  get isEmpty(): boolean {
    return this.output.length === 0;
  }

  thinking(block: number, text: string): void {
    const item = this.#reasoning(block);
    if (text !== '') item.add(text);
  }

  #reasoning(block: number): ReasoningItem {
    if (this.#open instanceof ReasoningItem && this.#open.block === block) return this.#open;
    const place = this.#begin('reasoning', '{"type":"reasoning","summary":[]}');
    return (this.#open = new ReasoningItem(place, this.#stream, { block, isShown: this.#showThoughts }));
  }

  /** @param encrypt makes the value of `encrypted_content` of the whole text */
  sign(block: number, encrypt: (text: string) => string): boolean {
    if (!(this.#open instanceof ReasoningItem) || this.#open.block !== block) return false;
    this.#open.encrypt = encrypt;
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
    const open = this.#open;
    const message = open instanceof MessageItem && open.phase === phase ? open : this.#message(phase);
    message.add('output_text', literal);
  }

  refusal(text: string): void {
    if (text === '') return;
    const message = this.#open instanceof MessageItem ? this.#open : this.#message(undefined);
    message.add('refusal', literalOf(text));
  }

  #message(phase: string | undefined): MessageItem {
    const place = this.#begin('message', MessageItem.begun(phase));
    for (const literal of this.#uncounted) this.#written += textLength(literal);
    this.#uncounted = [];
    return (this.#open = new MessageItem(place, this.#stream, { phase, offset: this.#written }));
  }

  /** False where no text of the answer is open. */
  cite(citation: UrlCitation): boolean {
    return this.#open instanceof MessageItem && this.#open.cite(citation);
  }

  /** False where no text of the answer is open. */
  logprobs(tokens: readonly LogprobToken[]): boolean {
    return this.#open instanceof MessageItem && this.#open.logprobs(tokens);
  }

  call(id: string, tool: EchoedTool): void {
    const head = new CallHead(id, tool);
    const place = this.#begin(head.form.type, head.item('in_progress', head.form.begun));
    this.#open = new CallItem(place, this.#stream, head);
  }

  arguments(text: string): void {
    if (text !== '' && this.#open instanceof CallItem) this.#open.add(text);
  }

  /** An item that arrives at once. */
  whole(item: JsonObject): void {
    this.close();
    const index = this.output.length;
    const named = typeof item.id === 'string' ? item : { id: this.#newId(String(item.type)), ...item };
    const json = jsonBytes(named);
    this.#stream?.event('output_item.added', `"output_index":${index},"item":${announced(named) ?? json}`);
    this.#end(index, json);
  }

  /** Announces an item that `fill` makes whole, while other items open. */
  place(announced: JsonObject): ItemPlace {
    return this.#begin(String(announced.type), jsonBytes(announced));
  }

  fill({ id, index }: ItemPlace, fields: JsonObject): void {
    this.#end(index, jsonBytes({ id, ...fields }));
  }

  /** @param status `incomplete` for the item at which the answer's limit stopped the model */
  close(status: 'completed' | 'incomplete' = 'completed'): void {
    const open = this.#open;
    if (!open) return;
    this.#open = undefined;
    this.#end(open.place.index, withId(open.place.id, open.whole(status)));
    if (open instanceof MessageItem) this.#uncounted = open.texts;
  }

  /** @param item as it is announced, without its id */
  #begin(type: string, item: string): ItemPlace {
    this.close();
    const [id, index] = [this.#newId(type), this.output.length];
    this.output.push('');
    this.#stream?.event('output_item.added', `"output_index":${index},"item":${withId(id, item)}`);
    return { id, index, head: `"item_id":"${id}","output_index":${index}` };
  }

  #end(index: number, item: string): void {
    this.#stream?.event('output_item.done', `"output_index":${index},"item":${item}`);
    this.output[index] = item;
  }

  /** Ids are unique in the gateway and the same for a response and its items. */
  #newId(type: string): string {
    return `${PREFIXES[type] ?? 'item'}_${this.#family}${this.output.length.toString(16).padStart(4, '0')}`;
  }
}

const withId = (id: string, item: string): string => `{"id":"${id}",${item.slice(1)}`;

/** OpenAI announces reasoning without what it encrypts. Undefined: the item is announced as it is. */
function announced(item: JsonObject): string | undefined {
  if (item.type !== 'reasoning') return undefined;
  const { encrypted_content: _, ...others } = item;
  return jsonBytes(others);
}
