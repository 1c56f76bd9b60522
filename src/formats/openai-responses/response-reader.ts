import type { JsonObject } from '../conversation.ts';
import type { GenerationEvent, UpstreamFailure } from '../events.ts';
import { ReplyFault } from '../faults.ts';
import type { ReplyContext } from '../format.ts';
import { compact, isObject, objectOf, listOf, numberOf, stringOf } from '../json/object.ts';
import { openAiMaker } from '../maker.ts';
import { withCount } from '../broken-generation.ts';
import { unreadable } from './errors.ts';
import { ItemState } from './item-state.ts';
import { decodeToken, finishReason, hostedEvents } from './item-events.ts';
import { decodeUsage, HostedCalls } from './reply-usage.ts';

/** The kinds of parts that a model writes. A reasoning item has a summary or its content. */
export type PartKind = 'text' | 'refusal' | 'summary' | 'content' | 'arguments';

/**
 * Reads the items of a response, whole or as events (docs/protocols/openai-responses.md#stream). A plain reply is read as items that come
 * whole, so that a stream and a plain reply cannot disagree.
 */
export class ResponseReader {
  readonly #reply: ReplyContext;
  readonly #events: GenerationEvent[] = [];
  readonly #items = new Map<number, ItemState>();
  /** Items that have come, by type. */
  readonly #count = new Map<string, number>();
  readonly #blocks = new Map<string, number>();
  #calls = 0;
  #started = false;
  /** UTF-16 units of the answer's text. */
  #written = 0;
  readonly #hostedCalls = new HostedCalls();
  /** A contradiction between the end of a part or an item and the events before it. */
  #contradicted: string | undefined;
  /** The current event has the numbers of its item and its part. */
  isPlaced = true;
  ended = false;
  /** An item has been opened. */
  begun = false;

  constructor(reply: ReplyContext) {
    this.#reply = reply;
  }

  drain(): readonly GenerationEvent[] {
    return this.#events.splice(0);
  }

  begin(response: JsonObject): void {
    if (this.#started) return;
    this.#started = true;
    const id = stringOf(response.id);
    const model = stringOf(response.model);
    const created = numberOf(response.created_at);
    this.#events.push(compact({ type: 'start' as const, id, model, created }));
  }

  open(item: JsonObject, at: number): void {
    this.begun = true;
    const known = this.#items.get(at)?.id;
    if (known !== undefined && known === item.id) return;
    const type = stringOf(item.type) ?? '';
    const isCall = type === 'function_call' || type === 'custom_tool_call';
    const name = stringOf(item.name);
    const told = compact({ id: stringOf(item.id), name, phase: stringOf(item.phase) });
    const state = this.#begin(at, new ItemState(type, isCall ? this.#calls++ : -1, told));
    if (!isCall) return;
    if (!name) throw new ReplyFault('a call has no name');
    this.#events.push(
      compact({
        type: 'tool_call' as const,
        choice: 0,
        block: this.#block(at, 'call'),
        call: state.call,
        id: stringOf(item.call_id) || this.#reply.newCallId(),
        name,
        namespace: stringOf(item.namespace),
        custom: type === 'custom_tool_call' || this.#reply.customTools?.has(name) || undefined,
      }),
    );
  }

  #begin(at: number, state: ItemState): ItemState {
    this.#items.set(at, state);
    this.#count.set(state.type, (this.#count.get(state.type) ?? 0) + 1);
    return state;
  }

  /** An item that has come whole, or the end of one that came as deltas. */
  item(item: JsonObject, at: number): void {
    if (!this.#items.has(at)) this.open(item, at);
    const state = this.#items.get(at)!;
    if (this.isPlaced && state.type !== (item.type ?? '')) this.#contradicted ??= `type of output[${at}]`;
    if (state.closed) return;
    this.#readItem(state, item, at);
    state.closed = true;
  }

  #readItem(state: ItemState, item: JsonObject, at: number): void {
    switch (state.type) {
      case 'message':
        (listOf(item.content) ?? []).forEach((part, index) => this.part(at, 'text', index, part));
        return;
      case 'reasoning':
        return this.#reasoning(item, at);
      case 'function_call':
      case 'custom_tool_call':
        if (state.name !== (stringOf(item.name) ?? state.name)) this.#contradicted ??= `name of output[${at}]`;
        this.fill(at, 'arguments', 0, item[state.type === 'function_call' ? 'arguments' : 'input']);
        if (state.call >= 0)
          this.#events.push({ type: 'tool_arguments', choice: 0, call: state.call, text: '', last: true });
        return;
      default:
        this.#hostedCalls.count(item);
        this.#events.push(...hostedEvents(item, at, this.#block(at, 'item')));
    }
  }

  /** A part that has come whole, or the end of one that came as deltas. `kind` is that of the usual part of its item. */
  part(at: number, kind: PartKind, index: number, value: unknown): void {
    const part = objectOf(value);
    if (!part) return;
    const isRefusal = part.type === 'refusal';
    const filled = this.fill(at, isRefusal ? 'refusal' : kind, index, isRefusal ? part.refusal : part.text);
    if (filled) this.logprobs(part.logprobs);
    if (this.#items.get(at)?.parts.has(`cited${index}`)) return;
    for (const annotation of listOf(part.annotations) ?? []) this.annotation(at, index, annotation);
  }

  /** Content that came whole: some servers send no deltas of it, and some not all of them. True where none came. */
  fill(at: number, kind: PartKind, index: number, text: unknown): boolean {
    if (typeof text !== 'string' || text === '') return false;
    const { parts, closed } = this.#items.get(at) ?? {};
    const part = `${kind}${index}`;
    if (parts?.has(part) || (closed && kind === 'arguments')) {
      this.#complete(at, kind, index, text);
      return false;
    }
    const other = kind === 'summary' ? 'content' : kind === 'content' ? 'summary' : undefined;
    if (other && parts?.has(other)) return false;
    this.add(at, kind, index, text);
    return true;
  }

  /** Text that was sent cannot be taken back, so a whole that contradicts it makes the reply a failure. Thoughts are no answer. */
  #complete(at: number, kind: PartKind, index: number, whole: string): void {
    const state = this.#items.get(at)!;
    const rest = state.behind(`${kind}${index}`, whole);
    if (rest && !state.closed) this.add(at, kind, index, rest);
    else if (rest !== '' && kind !== 'summary' && kind !== 'content') this.#contradicted ??= `${kind} of output[${at}]`;
  }

  /** A fragment of a part. */
  add(at: number, kind: PartKind, index: number, text: string): void {
    if (text === '') return;
    if (this.isPlaced && this.#items.get(at)?.closed === true && kind !== 'summary' && kind !== 'content') {
      this.#contradicted ??= `${kind} of output[${at}]`;
      return;
    }
    this.#push(at, kind, index, text);
    this.#items.get(at)?.note(`${kind}${index}`, text, this.isPlaced);
  }

  #push(at: number, kind: PartKind, index: number, text: string): void {
    switch (kind) {
      case 'text':
        return this.#text(this.#touch(at, 'message', kind, index), at, index, text);
      case 'refusal':
        this.#touch(at, 'message', kind, index);
        this.#events.push({ type: 'refusal', choice: 0, text });
        return;
      case 'summary':
      case 'content':
        return this.#thinking(this.#touch(at, 'reasoning', kind, index), at, kind, text);
      case 'arguments':
        if ((this.#items.get(at)?.call ?? -1) < 0) return;
        this.#events.push({ type: 'tool_arguments', choice: 0, call: this.#touch(at, '', kind, index).call, text });
    }
  }

  #text({ phase, starts }: ItemState, at: number, index: number, text: string): void {
    const block = this.#block(at, `text${index}`);
    if (!starts.has(index)) starts.set(index, this.#written);
    this.#written += text.length;
    this.#events.push({ type: 'text', choice: 0, block, text, ...(phase !== undefined && { phase }) });
  }

  /** Parts of a summary are paragraphs. */
  #thinking({ parts, isNew }: ItemState, at: number, kind: 'summary' | 'content', text: string): void {
    const block = this.#block(at, 'thinking');
    const isNext = isNew && parts.has(kind);
    if (isNew) parts.add(kind);
    this.#events.push({ type: 'thinking', choice: 0, block, text: isNext ? `\n\n${text}` : text });
  }

  annotation(at: number, part: number, value: unknown): void {
    const annotation = objectOf(value);
    const url = stringOf(annotation?.url);
    if (annotation?.type !== 'url_citation' || url === undefined) return;
    const state = this.#items.get(at);
    state?.parts.add(`cited${part}`);
    const from = state?.starts.get(part) ?? 0;
    const start = from + (numberOf(annotation.start_index) ?? 0);
    const end = from + (numberOf(annotation.end_index) ?? 0);
    const title = stringOf(annotation.title);
    this.#events.push({ type: 'citation', choice: 0, citation: compact({ url, title, start, end }) });
  }

  logprobs(tokens: unknown): void {
    const read = (listOf(tokens) ?? []).flatMap((token) => (isObject(token) ? [decodeToken(token)] : []));
    if (read.length > 0) this.#events.push({ type: 'logprobs', choice: 0, tokens: read });
  }

  finish(response: JsonObject): void {
    if (this.ended) return;
    this.begin(response);
    this.#fillIn((listOf(response.output) ?? []).filter(isObject));
    if (this.#contradicted !== undefined)
      return this.failed(
        response,
        unreadable(`The upstream sent a reply that contradicts itself: the ${this.#contradicted}.`),
      );
    this.ended = true;
    this.#noteUsage(response);
    const reason = finishReason(response, this.#calls);
    this.#events.push({ type: 'finish', choice: 0, reason }, { type: 'end' });
  }

  /** True where the response has a usage. */
  #noteUsage(response: JsonObject): boolean {
    const raw = objectOf(response.usage);
    const counted = raw && decodeUsage(raw, response.service_tier);
    if (!counted || !raw) return false;
    const usage = { ...counted, ...this.#hostedCalls.totals(response) };
    this.#events.push({ type: 'usage', usage, raw, format: 'openai-responses' });
    return true;
  }

  /** The end of a response that failed. The provider charges what it counted until then. */
  failed(response: JsonObject, failure: UpstreamFailure): void {
    if (!this.ended) this.fail(withCount(failure, this.#noteUsage(response) || undefined));
  }

  fail(failure: UpstreamFailure): void {
    if (this.ended) return;
    this.ended = true;
    this.#events.push({ type: 'error', failure });
  }

  /** Items of the whole response that have not come. Servers that number no events seem to send all items of a type at one place. */
  #fillIn(output: readonly JsonObject[]): void {
    const unplaced = new Map(this.#count);
    const isPlaced = ({ type }: JsonObject, at: number): boolean => this.#items.get(at)?.type === type;
    const countDown = (type: string): boolean => {
      const left = unplaced.get(type) ?? 0;
      unplaced.set(type, left - 1);
      return left > 0;
    };
    for (const [at, item] of output.entries()) if (isPlaced(item, at)) countDown(stringOf(item.type) ?? '');
    for (const [at, item] of output.entries()) {
      if (isPlaced(item, at)) this.#last(item, at);
      else if (!countDown(stringOf(item.type) ?? '')) this.item(item, this.#items.has(at) ? output.length + at : at);
    }
  }

  /** The item in the whole response. One that has ended is only compared. */
  #last(item: JsonObject, at: number): void {
    const { closed, id, type, call } = this.#items.get(at)!;
    if (!closed) return this.item(item, at);
    if (id === undefined || id !== item.id) return;
    if (type === 'message') (listOf(item.content) ?? []).forEach((part, index) => this.part(at, 'text', index, part));
    else if (call >= 0) this.fill(at, 'arguments', 0, item.arguments ?? item.input);
  }

  #touch(at: number, type: string, kind: PartKind, index: number): ItemState {
    const state = this.#items.get(at) ?? this.#begin(at, new ItemState(type, -1));
    state.touch(`${kind}${index}`);
    return state;
  }

  #block(at: number, kind: string): number {
    const key = `${at}/${kind}`;
    let block = this.#blocks.get(key);
    if (block === undefined) this.#blocks.set(key, (block = this.#blocks.size));
    return block;
  }

  #reasoning(item: JsonObject, at: number): void {
    for (const kind of ['summary', 'content'] as const)
      (listOf(item[kind]) ?? []).forEach((part, index) => this.fill(at, kind, index, objectOf(part)?.text));
    const signature = stringOf(item.encrypted_content);
    if (!signature) return;
    const block = this.#block(at, 'thinking');
    // The signature belongs to thinking even if none of it is shown.
    this.#events.push({ type: 'thinking', choice: 0, block, text: '' });
    this.#events.push({
      type: 'signature',
      choice: 0,
      block,
      signature,
      maker: openAiMaker(this.#reply.signatureScope),
    });
  }
}
