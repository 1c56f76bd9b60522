import type { JsonObject } from '../conversation.ts';
import { pricedTier, type GenerationEvent, type LogprobToken, type UpstreamFailure, type Usage } from '../events.ts';
import { ReplyFault, type ReplyContext } from '../format.ts';
import { compact } from '../json/compact.ts';
import { isObject, objectOf } from '../json/object.ts';
import { listOf, numberOf, stringOf } from '../json/read.ts';
import { openAiMaker } from '../maker.ts';
import { failureIn } from './errors.ts';
import { mcpParts } from './mcp-items.ts';

/** A plain 2xx reply → events. A response that failed is an error, though its status is 200. */
export function decodeReply(body: unknown, reply: ReplyContext): readonly GenerationEvent[] {
  const failure = failureIn(body);
  if (failure) return [{ type: 'error', failure }];
  if (!isObject(body) || !Array.isArray(body.output)) throw new ReplyFault('the reply is no response');
  const reader = new ResponseReader(reply);
  reader.begin(body);
  body.output.forEach((item: unknown, at) => {
    if (!isObject(item)) throw new ReplyFault(`output[${at}] of the reply is no item`);
    reader.item(item, at);
  });
  reader.finish(body);
  return reader.drain();
}

/** What has come of one item of a stream. */
interface ItemState {
  readonly type: string;
  /** The number of the call. */
  readonly call: number;
  /** Part of the content has come as deltas: the whole item repeats it. */
  streamed: boolean;
  readonly phase: string | undefined;
}

/**
 * Reads the items of a response, whole or as events (docs/protocols/openai-responses.md#stream). A plain reply is read as items that come
 * whole, so that a stream and a plain reply cannot disagree.
 */
export class ResponseReader {
  readonly #reply: ReplyContext;
  readonly #events: GenerationEvent[] = [];
  readonly #items = new Map<number, ItemState>();
  readonly #blocks = new Map<string, number>();
  #calls = 0;
  #started = false;
  /** UTF-16 units of the answer's text, and where the part that is cited began. */
  #written = 0;
  #partStart = 0;
  #searches = 0;
  #fileSearches = 0;
  readonly #containers = new Set<string>();
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
    const type = stringOf(item.type) ?? '';
    const isCall = type === 'function_call' || type === 'custom_tool_call';
    const state: ItemState = { type, call: isCall ? this.#calls++ : -1, streamed: false, phase: stringOf(item.phase) };
    this.#items.set(at, state);
    if (!isCall) return;
    const name = stringOf(item.name);
    if (name === undefined) throw new ReplyFault('a call has no name');
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

  /** An item that has come whole, or the end of one that came as deltas. */
  item(item: JsonObject, at: number): void {
    if (!this.#items.has(at)) this.open(item, at);
    const state = this.#items.get(at)!;
    switch (state.type) {
      case 'message':
        return state.streamed ? undefined : this.#message(item, at);
      case 'reasoning':
        return this.#reasoning(item, at, state.streamed);
      case 'function_call':
      case 'custom_tool_call': {
        const text = stringOf(item[state.type === 'function_call' ? 'arguments' : 'input']);
        if (!state.streamed && text) this.#argument(state, text);
        return;
      }
      default:
        this.#searches += Number(isSearch(item));
        this.#fileSearches += Number(isFileSearch(item));
        this.#noteContainer(item);
        return this.#hosted(item, at);
    }
  }

  text(at: number, part: number, text: string): void {
    const state = this.#touch(at, 'message');
    if (text === '') return;
    const key = `text${part}`;
    if (!this.#blocks.has(`${at}/${key}`)) this.#partStart = this.#written;
    this.#written += text.length;
    const { phase } = state;
    const block = this.#block(at, key);
    this.#events.push({ type: 'text', choice: 0, block, text, ...(phase !== undefined && { phase }) });
  }

  refusal(at: number, text: string): void {
    this.#touch(at, 'message');
    if (text !== '') this.#events.push({ type: 'refusal', choice: 0, text });
  }

  thinking(at: number, part: number, text: string): void {
    this.#touch(at, 'reasoning');
    if (text === '') return;
    const block = this.#block(at, 'thinking');
    // Parts of a summary are paragraphs.
    const key = `${at}/part`;
    const before = this.#blocks.get(key) ?? part;
    this.#blocks.set(key, part);
    this.#events.push({ type: 'thinking', choice: 0, block, text: before === part ? text : `\n\n${text}` });
  }

  argument(at: number, text: string): void {
    const state = this.#items.get(at);
    if (!state || state.call < 0 || text === '') return;
    state.streamed = true;
    this.#argument(state, text);
  }

  #argument({ call }: ItemState, text: string): void {
    this.#events.push({ type: 'tool_arguments', choice: 0, call, text });
  }

  annotation(value: unknown): void {
    const annotation = objectOf(value);
    const url = stringOf(annotation?.url);
    if (annotation?.type !== 'url_citation' || url === undefined) return;
    const start = this.#partStart + (numberOf(annotation.start_index) ?? 0);
    const end = this.#partStart + (numberOf(annotation.end_index) ?? 0);
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
    this.ended = true;
    const raw = objectOf(response.usage);
    const counted = raw && decodeUsage(raw, response.service_tier);
    if (counted && raw)
      this.#events.push({
        type: 'usage',
        usage: this.#withSearches(counted, response),
        raw,
        format: 'openai-responses',
      });
    const why = stringOf(objectOf(response.incomplete_details)?.reason);
    const reason =
      response.status === 'incomplete'
        ? why === 'content_filter'
          ? 'content_filter'
          : 'length'
        : this.#calls > 0
          ? 'tool_calls'
          : 'stop';
    this.#events.push({ type: 'finish', choice: 0, reason }, { type: 'end' });
  }

  /** The last event of a stream repeats all items; some servers send them there alone. */
  #withSearches(usage: Usage, { output }: JsonObject): Usage {
    const items = (listOf(output) ?? []).filter(isObject);
    const searches = Math.max(this.#searches, items.filter(isSearch).length);
    const fileSearches = Math.max(this.#fileSearches, items.filter(isFileSearch).length);
    for (const item of items) this.#noteContainer(item);
    const containers = this.#containers.size;
    return searches + fileSearches + containers === 0
      ? usage
      : {
          ...usage,
          ...(searches > 0 && { searches }),
          ...(fileSearches > 0 && { fileSearches }),
          ...(containers > 0 && { containers }),
        };
  }

  /** Several calls may run in one container. */
  #noteContainer({ type, container_id: id }: JsonObject): void {
    if (type === 'code_interpreter_call' && this.#containers.size < MAX_CONTAINERS)
      this.#containers.add(stringOf(id) ?? '');
  }

  fail(failure: UpstreamFailure): void {
    if (this.ended) return;
    this.ended = true;
    this.#events.push({ type: 'error', failure });
  }

  #touch(at: number, type: string): ItemState {
    let state = this.#items.get(at);
    if (!state) {
      state = { type, call: -1, streamed: true, phase: undefined };
      this.#items.set(at, state);
    }
    state.streamed = true;
    return state;
  }

  #block(at: number, kind: string): number {
    const key = `${at}/${kind}`;
    let block = this.#blocks.get(key);
    if (block === undefined) this.#blocks.set(key, (block = this.#blocks.size));
    return block;
  }

  #message(item: JsonObject, at: number): void {
    (listOf(item.content) ?? []).forEach((part, index) => {
      if (!isObject(part)) return;
      if (part.type === 'refusal') return this.refusal(at, stringOf(part.refusal) ?? '');
      this.text(at, index, stringOf(part.text) ?? '');
      for (const annotation of listOf(part.annotations) ?? []) this.annotation(annotation);
      this.logprobs(part.logprobs);
    });
  }

  #reasoning(item: JsonObject, at: number, streamed: boolean): void {
    const summary = listOf(item.summary) ?? [];
    const shown = summary.length > 0 ? summary : (listOf(item.content) ?? []);
    if (!streamed) shown.forEach((part, index) => this.thinking(at, index, stringOf(objectOf(part)?.text) ?? ''));
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

  /** An item of a tool that the provider ran. */
  #hosted(item: JsonObject, at: number): void {
    const place = { choice: 0, block: this.#block(at, 'item') };
    const code = stringOf(item.code);
    const result = stringOf(item.result);
    if (item.type === 'code_interpreter_call' && code !== undefined) {
      const id = stringOf(item.container_id);
      this.#events.push({ type: 'code', ...place, language: 'PYTHON', code, ...(id && { id }) });
      const logs = (listOf(item.outputs) ?? []).map((output) => stringOf(objectOf(output)?.logs) ?? '').join('');
      this.#events.push({ type: 'code_result', ...place, outcome: 'OUTCOME_OK', output: logs });
    } else if (item.type === 'image_generation_call' && result) {
      const mime = `image/${stringOf(item.output_format) ?? 'png'}`;
      this.#events.push({ type: 'media', ...place, mime, data: result });
    } else if (item.type === 'mcp_call') {
      for (const part of mcpParts(item, `mcp_${at}`) ?? []) this.#events.push({ ...part, ...place });
    } else this.#events.push({ type: 'opaque', ...place, format: 'openai-responses', value: item });
  }
}

/** Opening a page and finding text in one are calls too, and cost nothing (docs/protocols/openai-responses.md#searches). */
function isSearch({ type, action }: JsonObject): boolean {
  const done = stringOf(objectOf(action)?.type);
  return type === 'web_search_call' && (done === undefined || done === 'search');
}

const MAX_CONTAINERS = 1000;

const isFileSearch = ({ type }: JsonObject): boolean => type === 'file_search_call';

/** @param tier `service_tier`, which is beside the usage */
export function decodeUsage(raw: JsonObject, tier?: unknown): Usage | undefined {
  const input = numberOf(raw.input_tokens);
  const output = numberOf(raw.output_tokens);
  if (input === undefined && output === undefined) return undefined;
  const read = objectOf(raw.input_tokens_details);
  return compact({
    input: input ?? 0,
    output: output ?? 0,
    total: numberOf(raw.total_tokens) ?? (input ?? 0) + (output ?? 0),
    cacheRead: numberOf(read?.cached_tokens),
    cacheWrite: numberOf(read?.cache_write_tokens),
    reasoning: numberOf(objectOf(raw.output_tokens_details)?.reasoning_tokens),
    tier: pricedTier(tier),
  });
}

function decodeToken(token: JsonObject): LogprobToken {
  const top = listOf(token.top_logprobs)?.flatMap((other) => (isObject(other) ? [decodeToken(other)] : []));
  const bytes = listOf(token.bytes)?.filter((byte): byte is number => typeof byte === 'number');
  return compact({
    token: stringOf(token.token) ?? '',
    logprob: numberOf(token.logprob) ?? 0,
    bytes,
    top: top && top.length > 0 ? top : undefined,
  });
}
