import type { JsonObject } from '../conversation.ts';
import type { GenerationEvent, UpstreamFailure } from '../events.ts';
import { brokenGeneration, withCount } from '../broken-generation.ts';
import { ReplyFault } from '../faults.ts';
import type { ReplyContext } from '../format.ts';
import { openBlock, pushOpaque, type BlockReader, type ReplyState } from './block-readers.ts';
import { failureOf, unreadable } from './errors.ts';
import type { TextDeltas } from './plain-delta.ts';
import { toFinish, MessagesUsageReader } from './reply-fields.ts';
import { isObject, objectOf, listOf, stringOf } from '../json/object.ts';

/** Fields of the reply that have no neutral place; a client of this API gets them back (docs/protocols/anthropic-messages.md#reply). */
const REPLY_FIELDS = ['container', 'context_management', 'stop_details', 'diagnostics'] as const;

/**
 * Turns the steps of a message into events. A stream calls it for each SSE event, a plain reply once through: both use
 * one reading of the format, so they cannot disagree. Events collect until `drain`.
 */
export class MessageReader {
  readonly #state: ReplyState;
  /** Created with the first block of a stream: a plain reply has whole blocks. */
  #open: Map<number, BlockReader> | undefined;
  #fields: JsonObject | undefined;
  readonly #usage = new MessagesUsageReader();
  #stopReason: string | undefined;
  #stopSequence: string | undefined;
  /** Events that were more than a ping. */
  progress = 0;
  /** A block has been opened. */
  begun = false;
  #nextBlock = 0;
  #expectsText = true;
  #stopSeen = false;
  #started = false;
  #finished = false;

  constructor(reply: ReplyContext) {
    this.#state = { reply, out: [], answerLength: 0, calls: 0, jsonAnswers: 0 };
  }

  /** True after the terminal event; nothing is read any more. */
  get finished(): boolean {
    return this.#finished;
  }

  /** `message_delta` gave a `stop_reason`, and no content followed: the message is whole, though `message_stop` may be missing. */
  get stopped(): boolean {
    return this.#stopSeen;
  }

  drain(): readonly GenerationEvent[] {
    return this.#state.out.splice(0);
  }

  start(message: JsonObject): void {
    // The SDK throws here (docs/protocols/anthropic-messages.md#sdk-accumulator). Earlier events are already sent, and
    // mixing two messages would join the halves of two tool calls (recorded: a stream spliced in the middle of a call's
    // arguments).
    if (this.#started) return this.fail(unreadable('a second message inside its reply'));
    this.#started = true;
    const id = stringOf(message.id);
    const model = stringOf(message.model) ?? this.#state.reply.model;
    this.#state.out.push({ type: 'start', ...(id !== undefined && { id }), model });
    this.usage(message.usage);
  }

  /**
   * Reads `message_start`. Its content is empty at Anthropic; a proxy may put text there that no block repeats. The SDK
   * keeps that text and appends what is streamed under the same index, and so does this reader.
   */
  begin(message: JsonObject): void {
    this.start(message);
    if (this.#finished) return;
    this.stop(message);
    if (this.#finished) return;
    for (const [index, block] of (listOf(message.content) ?? []).entries()) {
      if (!isObject(block)) continue;
      this.open(index, block);
      this.close(index);
    }
  }

  open(index: number, block: JsonObject): void {
    this.begun = true;
    if (isNameless(block)) return this.fail(unreadable('a call without a name'));
    this.#stopSeen = false;
    this.close(index);
    this.#nextBlock = Math.max(this.#nextBlock, index + 1);
    const reader = openBlock(block, index, this.#state);
    this.#open ??= new Map();
    this.#open.set(index, reader);
    this.#expectsText = reader.texts !== undefined;
  }

  /** Reads a block of a plain message. */
  whole(index: number, block: JsonObject): void {
    this.#nextBlock = index + 1;
    if (isNameless(block))
      throw new ReplyFault(`The upstream’s reply has a call without a name at \`content[${index}]\`.`);
    openBlock(block, index, this.#state).close();
  }

  delta(index: number, delta: JsonObject): void {
    if (!this.#open?.has(index)) this.#imply(index, delta);
    this.#open?.get(index)?.delta(delta);
  }

  /** True while the block with this index is open and takes `texts`. */
  isText(index: number): boolean {
    return this.#open?.get(index)?.texts !== undefined;
  }

  /** True if the block that opened last is a text, and before any block has opened. */
  get expectsText(): boolean {
    return this.#expectsText;
  }

  /** Reads text deltas that follow each other, as literals. */
  texts(deltas: TextDeltas): void {
    this.progress += deltas.literals.length;
    this.#open?.get(deltas.index)?.texts?.(deltas);
  }

  /**
   * A delta for a block that was never opened or is already closed, against the order of blocks
   * (docs/protocols/anthropic-messages.md#block-order). Text is complete in itself and is kept. Arguments have no name
   * and fail the reply: leaving them out would end half a call as if it were complete.
   */
  #imply(index: number, delta: JsonObject): void {
    if (delta.type === 'text_delta') this.open(index, { type: 'text' });
    else if (delta.type === 'thinking_delta') this.open(index, { type: 'thinking' });
    else if (delta.type === 'input_json_delta' && delta.partial_json) {
      this.fail(unreadable('arguments of a call that is not open'));
    }
  }

  close(index: number): void {
    this.#open?.get(index)?.close();
    this.#open?.delete(index);
  }

  /** Reads `message_delta`. */
  late(delta: JsonObject, usage: unknown): void {
    this.usage(usage);
    this.stop(delta, usage);
    this.#stopSeen ||= stringOf(delta.stop_reason) !== undefined;
  }

  /** Reads the late fields, which a plain message has beside its content. */
  stop(delta: JsonObject, usage: unknown = delta.usage): void {
    this.#stopReason = stringOf(delta.stop_reason) ?? this.#stopReason;
    this.#stopSequence = stringOf(delta.stop_sequence) ?? this.#stopSequence;
    this.#note(delta);
    const broken = brokenGeneration(this.#stopReason);
    if (broken) this.fail(withCount(broken, objectOf(usage)));
  }

  usage(raw: unknown): void {
    if (!isObject(raw)) return;
    const usage = this.#usage.read(raw);
    if (usage) this.#state.out.push({ type: 'usage', usage, raw: this.#usage.raw, format: 'anthropic-messages' });
  }

  ping(): void {
    this.#state.out.push({ type: 'ping' });
  }

  end(): void {
    if (this.#open) for (const index of this.#open.keys()) this.close(index);
    const { out } = this.#state;
    const details = objectOf(this.#fields?.stop_details);
    const message = this.#stopReason === 'refusal' ? stringOf(details?.explanation) || undefined : undefined;
    // The explanation is in `finish`; only a category adds to it.
    if (this.#fields) {
      if (details?.category === null || details?.category === undefined) delete this.#fields.stop_details;
      if (Object.keys(this.#fields).length > 0) pushOpaque(this.#state, this.#nextBlock, this.#fields);
    }
    if (message !== undefined) out.push({ type: 'refusal', choice: 0, text: message });
    out.push({
      type: 'finish',
      choice: 0,
      reason: toFinish(this.#stopReason, this.#state),
      ...(this.#stopReason !== undefined && { native: this.#stopReason }),
      ...(this.#stopSequence !== undefined && { stopSequence: this.#stopSequence }),
      ...(message !== undefined && { message }),
    });
    out.push({ type: 'end' });
    this.#finished = true;
  }

  fail(failure: UpstreamFailure): void {
    this.#state.out.push({ type: 'error', failure });
    this.#finished = true;
  }

  #note(source: JsonObject): void {
    for (const key of REPLY_FIELDS)
      if (source[key] !== null && source[key] !== undefined) (this.#fields ??= {})[key] = source[key];
  }
}

const isNameless = ({ type, name }: JsonObject): boolean => type === 'tool_use' && !stringOf(name);

/** A plain 2xx reply: the steps of its stream, with whole blocks. */
export function decodeReply(received: unknown, reply: ReplyContext): readonly GenerationEvent[] {
  // Google's platform may put its error into a list of one (docs/protocols/errors.md#array-of-one).
  const first = objectOf(listOf(received)?.[0]);
  const body = isObject(first?.error) ? first : received;
  if (!isObject(body)) throw new ReplyFault('The upstream’s reply is not a JSON object.');
  const reader = new MessageReader(reply);
  const content = listOf(body.content);
  if (!content) {
    const failure = body.type === 'error' || isObject(body.error) ? failureOf(body) : undefined;
    if (!failure) throw new ReplyFault('The upstream’s reply has no `content` list.');
    reader.fail(failure);
    return reader.drain();
  }
  reader.start(body);
  for (let index = 0; index < content.length; index += 1) {
    const block = content[index];
    if (!isObject(block)) throw new ReplyFault(`The upstream’s reply has no object at \`content[${index}]\`.`);
    reader.whole(index, block);
  }
  reader.stop(body);
  if (!reader.finished) reader.end();
  return reader.drain();
}
