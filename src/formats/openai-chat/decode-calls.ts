import type { JsonObject } from '../conversation.ts';
import type { GenerationEvent } from '../events.ts';
import type { ReplyContext } from '../format.ts';
import type { BlockNumbers } from './decode-blocks.ts';
import { callSignature } from './decode-messages.ts';
import { unwrapInput } from '../custom-tools.ts';
import { GrowingJson, JsonEnd } from '../json/growing.ts';
import { isObject, numberOf, stringOf } from '../json/object.ts';
import { readMaker } from '../maker.ts';

interface StreamedCall {
  call: number;
  id: string | undefined;
  /** Empty until it comes. */
  name: string;
  custom: boolean;
  legacy: boolean;
  signature: string | undefined;
  maker: string | undefined;
  started: boolean;
  /** Argument text that arrived before the call was started. */
  early: string;
  /** Where the arguments end. */
  readonly json: JsonEnd;
  /** Arguments so far of a free-text tool that was sent as a function. They are one text when they are complete. */
  wrapped: GrowingJson | undefined;
  ended: boolean;
}

interface LeftAt {
  readonly index: number | undefined;
  readonly out: GenerationEvent[];
}

/** Key of the deprecated `function_call`, which has no index. */
const LEGACY = -1;

/**
 * Reads the tool calls of one choice. OpenAI numbers them and sends id and name first. Other servers omit the index or the id, use index 0
 * for every call, send a name in pieces, or make an id for every chunk; the reader accepts all of these. OpenAI's SDKs join the chunks of
 * an index whatever their ids are: `accumulate_delta` in Python, which joins names too, and `ChatCompletionStream` in Node.
 */
export class ToolCallReader {
  readonly #choice: number;
  readonly #reply: ReplyContext;
  readonly #blocks: BlockNumbers;
  readonly #calls: StreamedCall[] = [];
  /** The calls from here on may get more of their names, until their arguments or other content come. */
  #next = 0;
  #renamed = false;
  /** The current item is of a whole message, so its call is whole. */
  #isWhole = false;
  /** The number of calls that came in whole messages. A message ends only its own calls. */
  #whole = 0;
  /** The call that a fragment with the index continues. Without an index, it continues the last call. */
  readonly #byIndex = new Map<number | undefined, StreamedCall>();

  constructor(choice: number, reply: ReplyContext, blocks: BlockNumbers) {
    this.#choice = choice;
    this.#reply = reply;
    this.#blocks = blocks;
  }

  get count(): number {
    return this.#calls.length;
  }

  /** A call that cannot be passed on, or was passed on under a part of its name. */
  get fault(): string | undefined {
    if (this.#renamed) return 'The upstream changed the name of a tool call after its arguments had begun.';
    return this.#calls.some((call) => call.name === '') ? 'The upstream sent a tool call without a name.' : undefined;
  }

  /** @param whole `delta` is a message, whose calls are whole */
  read(delta: JsonObject, out: GenerationEvent[], whole: boolean): void {
    this.#isWhole = whole;
    if (Array.isArray(delta.tool_calls)) {
      for (const item of delta.tool_calls) if (isObject(item)) this.#readItem(item, out);
    }
    if (whole) this.startNamed(out);
    if (whole) for (; this.#whole < this.#calls.length; this.#whole += 1) this.#end(this.#calls[this.#whole]!, out);
    if (isObject(delta.function_call)) this.#readItem({ index: LEGACY, function: delta.function_call }, out);
  }

  #readItem(item: JsonObject, out: GenerationEvent[]): void {
    const custom = isObject(item.custom);
    const body = isObject(item.custom) ? item.custom : isObject(item.function) ? item.function : {};
    const name = stringOf(body.name) || undefined;
    const id = stringOf(item.id) || undefined;
    const index = numberOf(item.index);
    const before = this.#byIndex.get(index);
    const call = this.#callFor(index, id, name);
    this.#leave(before, call, { index, out });
    call.id ??= id;
    call.custom ||= custom;
    call.signature ??= callSignature(item, body);
    call.maker ??= stringOf(body.maker);
    const text = argumentText(custom ? body.input : body.arguments);
    if (!custom) call.json.scan(text);
    if (call.started) {
      this.#renamed ||= name !== undefined && name !== call.name;
      return this.#add(call, text, out);
    }
    call.early += text;
    // A server that repeats the name repeats what it has of it.
    if (name !== undefined) call.name = name.startsWith(call.name) ? name : call.name + name;
    if (call.name !== '') this.#startWith(call, text, out);
  }

  /** No more comes of the call that had the index before, or of any other without an index. */
  #leave(before: StreamedCall | undefined, call: StreamedCall, { index, out }: LeftAt): void {
    const isLeft = before !== undefined && before !== call;
    if (isLeft || index === undefined) this.startNamed(out, call.call - 1);
    if (isLeft) this.#end(before, out);
  }

  #startWith(call: StreamedCall, text: string, out: GenerationEvent[]): void {
    if (call.call < this.#next) this.#start(call, out);
    else if (text !== '') this.startNamed(out, call.call);
  }

  /** The names of the calls up to this one are whole. */
  startNamed(out: GenerationEvent[], last = this.#calls.length - 1): void {
    for (; this.#next <= last; this.#next += 1) {
      const call = this.#calls[this.#next]!;
      if (call.name !== '') this.#start(call, out);
    }
  }

  #add(call: StreamedCall, text: string, out: GenerationEvent[]): void {
    if (call.wrapped) this.#unwrap(call, call.wrapped, text, out);
    else this.#arguments(call, text, out);
  }

  /** White space may follow a whole value. Other text after it is passed on, and the client's encoder decides about it. */
  #unwrap(call: StreamedCall, wrapped: GrowingJson, text: string, out: GenerationEvent[]): void {
    wrapped.add(text);
    if (!call.ended && wrapped.whole) this.#end(call, out);
    else if (call.ended && text.trim() !== '') this.#arguments(call, text, out);
  }

  /** Called when the choice has ended. */
  close(out: GenerationEvent[]): void {
    for (const call of this.#calls) if (call.wrapped) this.#end(call, out);
  }

  /** Ends a call. Only free text needs an event for its end: the end of JSON shows in the text itself. */
  #end(call: StreamedCall, out: GenerationEvent[]): void {
    if (!call.custom || call.ended) return;
    call.ended = true;
    if (call.wrapped) this.#arguments(call, unwrapInput(call.wrapped.text), out);
    out.push({ type: 'tool_arguments', choice: this.#choice, call: call.call, text: '', last: true });
  }

  #arguments({ call }: StreamedCall, text: string, out: GenerationEvent[]): void {
    if (text !== '') out.push({ type: 'tool_arguments', choice: this.#choice, call, text });
  }

  #start(call: StreamedCall, out: GenerationEvent[]): void {
    const { name } = call;
    call.started = true;
    call.id ??= this.#reply.newCallId();
    if (!call.custom && this.#reply.customTools?.has(name)) {
      call.custom = true;
      call.wrapped = new GrowingJson();
    }
    const { id, custom, legacy, signature, maker } = call;
    const block = this.#blocks.next();
    out.push({
      type: 'tool_call',
      choice: this.#choice,
      block,
      call: call.call,
      id,
      name,
      ...(custom && { custom }),
      ...(legacy && { legacy }),
      ...(signature && { signature, ...readMaker(maker) }),
    });
    this.#add(call, call.early, out);
    call.early = '';
  }

  #callFor(index: number | undefined, id: string | undefined, name: string | undefined): StreamedCall {
    if (this.#isWhole && name !== undefined) return this.#begin(index);
    if (index === undefined) {
      const last = this.#calls.at(-1);
      return last && (name === undefined || continues(last, id, name)) ? last : this.#begin(undefined);
    }
    const known = this.#byIndex.get(index);
    return known && !isOther(known, id, name) ? known : this.#begin(index);
  }

  #begin(index: number | undefined): StreamedCall {
    const call: StreamedCall = {
      call: this.#calls.length,
      id: undefined,
      name: '',
      custom: false,
      legacy: index === LEGACY,
      signature: undefined,
      maker: undefined,
      started: false,
      early: '',
      json: new JsonEnd(),
      wrapped: undefined,
      ended: false,
    };
    this.#calls.push(call);
    this.#byIndex.set(index, call);
    return call;
  }
}

/**
 * A new name with a new id is a new call, even under a known index. So is a name when the arguments of the known call are whole: servers that
 * have index 0 for every call send each whole. Free text has no end of its own. Before that, the chunk belongs to the call of its index, as for SDKs.
 */
const isOther = (known: StreamedCall, id: string | undefined, name: string | undefined): boolean => {
  if (known.name === '' || name === undefined || id === known.id) return false;
  if (name !== known.name) return id !== undefined || known.json.closed;
  return id !== undefined && (known.json.closed || known.custom);
};

/** A chunk without an index that names its call. */
const continues = (last: StreamedCall, id: string | undefined, name: string): boolean =>
  id !== undefined && id === last.id ? true : name === last.name && last.json.open;

/** JSON text; some servers send the parsed object. */
function argumentText(value: unknown): string {
  if (typeof value === 'string') return value;
  return isObject(value) ? JSON.stringify(value) : '';
}
