import { MAX_CHOICES, TOO_MANY_CHOICES, type GenerationEvent, type UpstreamFailure } from '../events.ts';
import type { JsonObject } from '../conversation.ts';
import type { ReplyContext, StreamDecoder } from '../format.ts';
import { readSse, SseCutter, type SseEvent } from '../sse/event-stream.ts';
import { withCount } from '../broken-generation.ts';
import { ChoiceReader } from './decode-reply.ts';
import { decodeEnvelope, usageEvent } from './reply-fields.ts';
import {
  CUT_SHORT,
  failureInStead,
  failureOfEvent,
  GARBLED,
  NO_ANSWER,
  streamInterrupted,
  UNFINISHED,
  unreadable,
} from './errors.ts';
import { isKeepAlive } from './read.ts';
import { isObject, parseJson } from '../json/object.ts';
import type { LossNotes } from '../losses/reply-losses.ts';

export function decodeStream(reply: ReplyContext, notes?: LossNotes): StreamDecoder {
  return new ChatStreamDecoder(reply, notes);
}

/**
 * Decodes chunks (docs/protocols/openai-chat.md#stream). A stream is complete when every choice has a finish reason,
 * whether `[DONE]` or only the end of the connection follows: proxies send `[DONE]` after an interrupted stream too.
 * Any other stream was interrupted.
 */
class ChatStreamDecoder implements StreamDecoder {
  readonly #reply: ReplyContext;
  readonly #notes: LossNotes | undefined;
  readonly #cutter = new SseCutter();
  readonly #choices = new Map<number, ChoiceReader>();
  progress = 0;
  #started = false;
  #ended = false;
  #closed = false;

  constructor(reply: ReplyContext, notes: LossNotes | undefined) {
    this.#reply = reply;
    this.#notes = notes;
  }

  push(bytes: Buffer): readonly GenerationEvent[] {
    const out: GenerationEvent[] = [];
    if (this.#ended) return out;
    const whole = this.#cutter.push(bytes);
    if (whole) this.#readAll(whole, out);
    else if (this.#cutter.failure) this.#fail(this.#cutter.failure, out);
    return out;
  }

  end(): readonly GenerationEvent[] {
    const out: GenerationEvent[] = [];
    if (this.#ended) return out;
    this.#closed = true;
    // The last event may lack its blank line. A truncated event does not parse.
    const rest = this.#cutter.rest();
    this.#readAll(rest, out);
    if (this.#ended) return out;
    const refusal = this.#started ? undefined : failureInStead(rest);
    if (refusal) this.#fail(refusal, out);
    if (this.#ended) return out;
    if (this.#choices.size > 0 && this.#allFinished()) this.#complete(out);
    else this.#fail(streamInterrupted(CUT_SHORT), out);
    return out;
  }

  #readAll(bytes: Buffer, out: GenerationEvent[]): void {
    for (const event of readSse(bytes)) {
      this.#readEvent(event, out);
      if (this.#ended) return;
    }
  }

  #readEvent({ event, data }: SseEvent, out: GenerationEvent[]): void {
    if (data.startsWith('[DONE]')) return this.#done(out);
    if (data === '') return;
    const chunk = parseJson(data);
    if (chunk === undefined) return this.#fail(this.#closed ? streamInterrupted(CUT_SHORT) : unreadable(GARBLED), out);
    const failure = failureOfEvent(event, chunk);
    if (!failure) return isObject(chunk) ? this.#readChunk(chunk, out) : undefined;
    const usage = isObject(chunk) ? usageEvent(chunk.usage, chunk.service_tier) : undefined;
    if (usage) out.push(usage);
    this.#fail(withCount(failure, usage), out);
  }

  #readChunk(chunk: JsonObject, out: GenerationEvent[]): void {
    const choices: readonly unknown[] = Array.isArray(chunk.choices) ? chunk.choices : [];
    if (!isKeepAlive(chunk)) this.progress += 1;
    // Azure's first chunk has filter results, no choices, and empty id and model.
    if (!this.#started && (choices.length > 0 || chunk.id)) {
      this.#started = true;
      out.push(decodeEnvelope(chunk));
    }
    for (const [at, choice] of choices.entries()) {
      if (!isObject(choice)) continue;
      const reader = this.#choice(typeof choice.index === 'number' ? choice.index : at);
      if (!reader) return this.#fail(unreadable(`The upstream’s reply cannot be read: ${TOO_MANY_CHOICES}.`), out);
      reader.read(choice, out);
    }
    const usage = usageEvent(chunk.usage, chunk.service_tier);
    if (usage) out.push(usage);
  }

  #choice(index: number): ChoiceReader | undefined {
    let reader = this.#choices.get(index);
    if (!reader && this.#choices.size < MAX_CHOICES)
      this.#choices.set(index, (reader = new ChoiceReader(index, this.#reply, this.#notes)));
    return reader;
  }

  #done(out: GenerationEvent[]): void {
    if (this.#choices.size === 0) this.#fail(streamInterrupted(NO_ANSWER), out);
    else if (!this.#allFinished()) this.#fail(streamInterrupted(UNFINISHED), out);
    else this.#complete(out);
  }

  #allFinished(): boolean {
    return [...this.#choices.values()].every((choice) => choice.finished);
  }

  #complete(out: GenerationEvent[]): void {
    const choices = [...this.#choices.values()].sort((a, b) => a.index - b.index);
    const fault = choices.map((choice) => choice.fault()).find((found) => found !== undefined);
    if (fault) return this.#fail(unreadable(fault), out);
    for (const choice of choices) choice.close(out);
    this.#ended = true;
    out.push({ type: 'end' });
  }

  #fail(failure: UpstreamFailure, out: GenerationEvent[]): void {
    this.#ended = true;
    out.push({ type: 'error', failure });
  }
}
