import { MAX_CHOICES, TOO_MANY_CHOICES, type GenerationEvent } from '../events.ts';
import { ReplyFault } from '../faults.ts';
import type { ReplyContext } from '../format.ts';
import { withCount } from '../broken-generation.ts';
import { failureOfEvent } from './errors.ts';
import { decodeEnvelope, mapFinish, decodeCitation, decodeLogprobs, usageEvent } from './reply-fields.ts';
import { isObject, listOf, stringOf } from '../json/object.ts';
import type { JsonObject } from '../conversation.ts';
import { BlockNumbers, readImages, readStreamedBlocks, readWholeBlocks } from './decode-blocks.ts';
import { AFTER_THOUGHTS, CHOICE_FIELDS } from './content-blocks.ts';
import { ToolCallReader } from './decode-calls.ts';
import { AudioReader } from './audio.ts';
import { AnswerTokens, InlineThoughts } from './inline-thoughts.ts';
import type { LossNotes } from '../losses/reply-losses.ts';
import { thoughtIn, ThoughtSigner } from './returned-thoughts.ts';

/** Decodes a plain 2xx reply. A 200 with an error (OpenRouter, proxies; Google in an array) becomes that error. */
export function decodeReply(body: unknown, reply: ReplyContext, notes?: LossNotes): readonly GenerationEvent[] {
  const failure = failureOfEvent(undefined, body);
  if (failure) {
    const counted = isObject(body) ? usageEvent(body.usage, body.service_tier) : undefined;
    return [...(counted ? [counted] : []), { type: 'error', failure: withCount(failure, counted) }];
  }
  if (!isObject(body) || !Array.isArray(body.choices)) throw new ReplyFault('The reply is not a chat completion.');
  if (body.choices.length === 0) throw new ReplyFault('The reply has no choices.');
  if (body.choices.length > MAX_CHOICES) throw new ReplyFault(`The reply cannot be read: ${TOO_MANY_CHOICES}.`);
  const events: GenerationEvent[] = [decodeEnvelope(body)];
  const readers = body.choices.map((choice: unknown, at) => readChoice(choice, at, { reply, events, notes }));
  const usage = usageEvent(body.usage, body.service_tier);
  if (usage) events.push(usage);
  for (const reader of readers) reader.close(events);
  events.push({ type: 'end' });
  return events;
}

function readChoice(
  choice: unknown,
  at: number,
  to: { reply: ReplyContext; events: GenerationEvent[]; notes: LossNotes | undefined },
): ChoiceReader {
  if (!isObject(choice) || !isObject(choice.message))
    throw new ReplyFault(`choices[${at}] of the reply has no message.`);
  const reader = new ChoiceReader(typeof choice.index === 'number' ? choice.index : at, to.reply, to.notes);
  reader.read(choice, to.events);
  const fault = reader.fault();
  if (fault) throw new ReplyFault(fault);
  return reader;
}

/**
 * Reads one choice. A plain reply is read as one large delta, so that a stream and a plain reply cannot disagree. The
 * finish event is emitted at the end of the reply only: some servers send content after the finish reason, and the
 * reason depends on the calls seen.
 */
export class ChoiceReader {
  readonly index: number;
  readonly #blocks = new BlockNumbers();
  readonly #calls: ToolCallReader;
  readonly #audio: AudioReader;
  /** Fields of the choice that OpenAI does not document: filter results, grounding metadata. */
  readonly #notes = new Map<string, unknown>();
  readonly #signer: ThoughtSigner | undefined;
  #finish: string | undefined;
  #native: string | undefined;
  /** Set for an upstream that may begin its answers with the chain of thought. */
  readonly #thoughts: InlineThoughts | undefined;
  readonly #answerTokens: AnswerTokens | undefined;
  /** The last content was a chain of thought, so a separator may follow. */
  #thoughtShown = false;

  /** @param notes undefined for a reply that the client gets as it is */
  constructor(index: number, reply: ReplyContext, notes: LossNotes | undefined) {
    this.index = index;
    if (notes) this.#signer = new ThoughtSigner(reply.thoughtMaker, { choice: index, blocks: this.#blocks, notes });
    if (reply.inlineThinking) {
      this.#thoughts = new InlineThoughts();
      this.#answerTokens = new AnswerTokens();
    }
    this.#calls = new ToolCallReader(index, reply, this.#blocks);
    this.#audio = new AudioReader(index, this.#blocks);
  }

  get finished(): boolean {
    return this.#finish !== undefined;
  }

  /** `choice` of a chunk, or of a plain reply (`message` in place of `delta`). */
  read(choice: JsonObject, out: GenerationEvent[]): void {
    if (isObject(choice.delta)) this.#readDelta(choice.delta, out, false);
    else if (isObject(choice.message)) this.#readDelta(choice.message, out, true);
    this.#readLogprobs(choice.logprobs, out);
    this.#readNotes(choice);
    // Some servers write the empty string where OpenAI writes null.
    this.#finish ||= stringOf(choice.finish_reason) || undefined;
    this.#native ||= stringOf(choice.native_finish_reason) || undefined;
  }

  #readDelta(delta: JsonObject, out: GenerationEvent[], whole: boolean): void {
    const { index: choice } = this;
    if (!delta.tool_calls && !delta.function_call) this.#startCall(out);
    if (!delta.content_blocks) this.#readThoughts(delta, out);
    const after = out.length;
    const content = textOf(delta.content);
    const place = { choice, blocks: this.#blocks, out };
    const textRead = readWholeBlocks(delta, content, { ...place, whole }) || readStreamedBlocks(delta, content, place);
    if (content && !textRead) this.#readText(content, out);
    this.#thoughtShown = textRead === 'thoughts';
    const refusal = stringOf(delta.refusal);
    if (refusal) out.push({ type: 'refusal', choice, text: refusal });
    if (isObject(delta.audio)) this.#audio.read(delta.audio, out);
    if (Array.isArray(delta.images)) readImages(delta.images, place);
    if (Array.isArray(delta.annotations)) this.#readAnnotations(delta.annotations, out);
    if (delta.tool_calls || delta.function_call) this.#flushThoughts(out);
    this.#calls.read(delta, out, whole);
    if (out.length > after) this.#signer?.sign(out, after);
  }

  /** A call waits for the rest of its name. */
  #startCall(out: GenerationEvent[]): void {
    const at = out.length;
    this.#calls.startNamed(out);
    if (out.length > at) this.#signer?.sign(out, at);
  }

  /** DeepSeek and vLLM send `reasoning_content`; OpenRouter and newer vLLM send `reasoning`. */
  #readThoughts(delta: JsonObject, out: GenerationEvent[]): void {
    if (delta.reasoning_details) this.#signer?.details(listOf(delta.reasoning_details) ?? []);
    const thought = thoughtIn(delta);
    if (!thought) return this.#signer?.empty(delta);
    const block = this.#blocks.open('thinking');
    this.#signer?.thought(block, thought.field);
    out.push({ type: 'thinking', choice: this.index, block, text: thought.text });
  }

  #readText(content: string, out: GenerationEvent[]): void {
    // A gateway like this one writes the separator as a chunk of its own (choice-writer.ts).
    if (this.#thoughtShown && content === AFTER_THOUGHTS) return;
    if (this.#thoughts) this.#pushSplit(this.#thoughts.push(content), out);
    else out.push({ type: 'text', choice: this.index, block: this.#blocks.open('text'), text: content });
  }

  #flushThoughts(out: GenerationEvent[]): void {
    if (this.#thoughts) this.#pushSplit(this.#thoughts.flush(), out);
  }

  #pushSplit({ thought, answer }: ReturnType<InlineThoughts['push']>, out: GenerationEvent[]): void {
    const { index: choice } = this;
    if (thought)
      out.push({ type: 'thinking', choice, block: this.#blocks.open('thinking'), text: thought, inline: true });
    if (answer) out.push({ type: 'text', choice, block: this.#blocks.open('text'), text: answer });
  }

  #readAnnotations(annotations: readonly unknown[], out: GenerationEvent[]): void {
    for (const annotation of annotations) {
      const citation = isObject(annotation) ? decodeCitation(annotation.url_citation) : undefined;
      if (citation) out.push({ type: 'citation', choice: this.index, citation });
    }
  }

  #readLogprobs(logprobs: unknown, out: GenerationEvent[]): void {
    if (!isObject(logprobs)) return;
    const choice = this.index;
    const all = decodeLogprobs(logprobs.content);
    const tokens = this.#answerTokens?.push(all) ?? all;
    if (tokens.length > 0) out.push({ type: 'logprobs', choice, tokens });
    const refused = decodeLogprobs(logprobs.refusal);
    if (refused.length > 0) out.push({ type: 'logprobs', choice, tokens: refused, refusal: true });
  }

  /** Notes are emitted once, at the end: filter results come with every chunk, and the last ones hold. */
  #readNotes(choice: JsonObject): void {
    for (const [key, value] of Object.entries(choice)) {
      if (!CHOICE_FIELDS.has(key) && value !== null) this.#notes.set(key, value);
    }
  }

  /** Describes the fault of the choice, if it has one: a call that never got a name cannot be passed on. */
  fault(): string | undefined {
    return this.#calls.fault;
  }

  close(out: GenerationEvent[]): void {
    const choice = this.index;
    this.#flushThoughts(out);
    this.#audio.close(out);
    this.#startCall(out);
    this.#calls.close(out);
    this.#signer?.close(out);
    const notes = Object.fromEntries(this.#notes);
    if (this.#notes.size > 0) {
      out.push({ type: 'opaque', choice, block: this.#blocks.next(), format: 'openai-chat', value: notes });
    }
    const reason = mapFinish(this.#finish, this.#calls.count > 0);
    const native = this.#native ?? (this.#finish === reason ? undefined : this.#finish);
    out.push({ type: 'finish', choice, reason, ...(native !== undefined && { native }) });
  }
}

/** Mistral answers in parts: `{type:"thinking",thinking:[{type:"text",text}]}`, then `{type:"text",text}`. */
export function textOf(content: unknown): string {
  if (!Array.isArray(content)) return stringOf(content) ?? '';
  return content.map((part) => (isObject(part) && part.type === 'text' ? (stringOf(part.text) ?? '') : '')).join('');
}
