import { MAX_CHOICES, TOO_MANY_CHOICES, type EventOf, type GenerationEvent, type UpstreamFailure } from '../events.ts';
import type { JsonObject } from '../conversation.ts';
import { ReplyFault } from '../faults.ts';
import type { ReplyContext, StreamDecoder } from '../format.ts';
import { CandidateReader, INLINE_THINKER, type PromptBlock } from './candidate.ts';
import { noLosses, type LossNotes } from '../losses/reply-losses.ts';
import { withCount } from '../broken-generation.ts';
import { decodeInnerFailure } from './errors.ts';
import { metadataOf } from './metadata.ts';
import { asList, asNumber, optional } from './wire.ts';
import { GeminiUsageReader } from './usage.ts';
import { stringOf, append, isObject } from '../json/object.ts';
import { EventBytes } from '../sse/event-bytes.ts';
import { eventEnd, hasReturns } from '../sse/event-stream.ts';
import { chunksOf, dataOf, type Framed, Framing, unreadable } from './framing.ts';
import { TextEventTemplate, type TextEvents } from './text-events.ts';

/** The stream closed without a finish reason (docs/protocols/messages-route.md#interrupted-stream). */
export const INTERRUPTED: UpstreamFailure = {
  status: 502,
  kind: 'stream_interrupted',
  message: 'The stream of the upstream ended before the reply was complete.',
};

const PIECES = ['searches', 'fileSearches', 'mapSearches', 'images'] as const;

/** Google generates up to eight candidates. The message of a blocked prompt is repeated for no more than these. */
const MAX_CANDIDATES = 8;

/** Reads GenerateContentResponse objects, one (plain) or many (streamed), into events. */
export class GeminiReplyReader {
  readonly #reply: ReplyContext;
  readonly #notes: LossNotes;
  readonly #candidates = new Map<number, CandidateReader>();
  #started = false;
  readonly #usage = new GeminiUsageReader();
  #blocked: PromptBlock | undefined;
  /** The latest counts. */
  #counted: EventOf<'usage'> | undefined;

  constructor(reply: ReplyContext, notes: LossNotes = noLosses()) {
    this.#notes = notes;
    this.#reply = reply;
  }

  /** Returns the events of one object. An `error` event ends the reply. */
  read(chunk: unknown): GenerationEvent[] {
    if (!isObject(chunk)) throw new ReplyFault('the reply is not a JSON object');
    const error = chunk['error'] ?? undefined;
    if (error !== undefined) return [{ type: 'error', failure: decodeInnerFailure(error) }];
    const events: GenerationEvent[] = this.#start(chunk);
    const candidates = candidatesOf(chunk);
    const indexes = indexesOf(candidates);
    let broken: UpstreamFailure | undefined;
    for (let at = 0; at < candidates.length; at += 1) {
      const candidate = this.#candidate(indexes[at]!);
      candidate.read(candidates[at]!, events);
      broken ??= candidate.broken;
    }
    this.#blocked = blockOf(chunk['promptFeedback']) ?? this.#blocked;
    const metadata = chunk['usageMetadata'];
    const usage = isObject(metadata) ? this.#usage.read(metadata) : undefined;
    if (usage) events.push((this.#counted = this.#withPieces(usage)));
    if (broken) events.push({ type: 'error', failure: withCount(broken, usage) });
    return events;
  }

  /** Reads objects that differ in nothing but their one text and their counts of tokens. */
  readTexts({ choice, literals, usage: metadata }: TextEvents, events: GenerationEvent[]): void {
    this.#candidate(choice).readTexts(literals, events);
    const usage = metadata && this.#usage.read(metadata);
    if (usage) events.push((this.#counted = this.#withPieces(usage)));
  }

  /** The usage with what is counted by the piece, which Google reports elsewhere. */
  #withPieces(event: EventOf<'usage'>): EventOf<'usage'> {
    let more: Partial<Record<(typeof PIECES)[number], number>> | undefined;
    for (const { pieces } of this.#candidates.values()) {
      if (!pieces) continue;
      for (const name of PIECES) if (pieces[name] > 0) (more ??= {})[name] = (more?.[name] ?? 0) + pieces[name];
    }
    return more ? { ...event, usage: { ...event.usage, ...more } } : event;
  }

  /** Undefined unless the last counts came before a search or a picture. */
  #lateUsage(): EventOf<'usage'> | undefined {
    const before = this.#counted;
    const later = before && this.#withPieces(before);
    if (!later || PIECES.every((name) => later.usage[name] === before.usage[name])) return undefined;
    return later;
  }

  /** True when every candidate has a finish reason, or the filter blocked the prompt of all of them. */
  get finished(): boolean {
    if (this.#blocked) return true;
    return this.#candidates.size > 0 && [...this.#candidates.values()].every((candidate) => candidate.finished);
  }

  /** Throws ReplyFault when no candidate is readable. */
  end(): GenerationEvent[] {
    const candidates = [...this.#candidates.values()];
    if (!this.#blocked && candidates.length > 0 && candidates.every(({ useless }) => useless)) {
      throw new ReplyFault('no part of the answer is readable; a function call needs a name');
    }
    const blocked = this.#blocked;
    const events: GenerationEvent[] = [];
    if (candidates.length > 1) candidates.sort((a, b) => a.choice - b.choice);
    for (let at = 0; at < candidates.length; at += 1) {
      const block = blocked && at >= MAX_CANDIDATES ? { ...blocked, message: undefined } : blocked;
      candidates[at]!.end(events, block);
    }
    if (events.length === 0) events.push(...this.#emptyAnswer());
    const late = this.#lateUsage();
    if (late) events.push(late);
    events.push({ type: 'end' });
    return events;
  }

  #start(chunk: JsonObject): GenerationEvent[] {
    if (this.#started) return [];
    this.#started = true;
    const id = stringOf(chunk['responseId']);
    const model = stringOf(chunk['modelVersion']) || this.#reply.model;
    return [{ type: 'start', ...optional('id', id ? `chatcmpl-${id}` : undefined), model }];
  }

  #candidate(index: number): CandidateReader {
    let candidate = this.#candidates.get(index);
    if (!candidate) {
      if (this.#candidates.size === MAX_CHOICES) throw new ReplyFault(TOO_MANY_CHOICES);
      candidate = new CandidateReader(index, this.#reply, this.#notes);
      this.#candidates.set(index, candidate);
    }
    return candidate;
  }

  /** A blocked prompt or an empty reply is one choice (docs/protocols/replies.md#blocked-prompt-reply). */
  #emptyAnswer(): GenerationEvent[] {
    if (!this.#blocked) return [{ type: 'finish', choice: 0, reason: 'stop' }];
    const { reason, message, ratings } = this.#blocked;
    const finish = { type: 'finish', choice: 0, reason: 'content_filter', native: reason } as const;
    const events: GenerationEvent[] = [{ ...finish, ...optional('message', message) }];
    if (ratings) events.unshift({ type: 'opaque', choice: 0, block: 0, format: 'gemini', value: ratings });
    return events;
  }
}

/** A candidate that is not an object cannot become an answer. */
function candidatesOf(chunk: JsonObject): readonly JsonObject[] {
  const listed = asList(chunk['candidates']);
  if (!listed.every(isObject)) throw new ReplyFault('a candidate of the reply is not a JSON object');
  return listed;
}

function blockOf(feedback: unknown): PromptBlock | undefined {
  if (!isObject(feedback)) return undefined;
  const reason = stringOf(feedback['blockReason']);
  if (!reason) return undefined;
  const ratings = metadataOf(feedback);
  return {
    reason,
    message: stringOf(feedback['blockReasonMessage']),
    ratings: Object.keys(ratings).length > 0 ? ratings : undefined,
  };
}

/** Protobuf JSON may omit an index of 0. The position takes its place, unless another candidate has that index. */
function indexesOf(candidates: readonly JsonObject[]): number[] {
  if (candidates.length === 1) return [asNumber(candidates[0]!['index']) ?? 0];
  const reported = candidates.map((candidate) => asNumber(candidate['index']));
  const taken = new Set(reported);
  // All indexes below `lowest` are taken and stay taken.
  let lowest = 0;
  return reported.map((index, position) => {
    if (index !== undefined) return index;
    while (taken.has(lowest)) lowest += 1;
    const free = taken.has(position) ? lowest : position;
    taken.add(free);
    return free;
  });
}

const REPLY_FIELDS = ['candidates', 'promptFeedback', 'usageMetadata', 'responseId', 'error'];

/** A whole 2xx reply. Without a finish reason it ends plainly (docs/protocols/replies.md#missing-finish-reason). */
export function decodeReply(body: unknown, reply: ReplyContext, notes?: LossNotes): readonly GenerationEvent[] {
  if (!isObject(body) || !REPLY_FIELDS.some((field) => field in body)) {
    throw new ReplyFault('the reply is not a GenerateContentResponse');
  }
  const reader = new GeminiReplyReader(reply, notes);
  const events = reader.read(body);
  if (events.at(-1)?.type !== 'error') append(events, reader.end());
  return events;
}

export function decodeStream(reply: ReplyContext, notes?: LossNotes, literals = false): StreamDecoder {
  return new GeminiStreamDecoder(reply, notes, literals);
}

class GeminiStreamDecoder implements StreamDecoder {
  readonly #framing = new Framing();
  readonly #reader: GeminiReplyReader;
  /** Undefined where no event may have `literals`. */
  readonly #template: TextEventTemplate | undefined;
  #isText = true;
  progress = 0;
  #ended = false;

  constructor(reply: ReplyContext, notes: LossNotes | undefined, literals: boolean) {
    this.#reader = new GeminiReplyReader(reply, notes);
    this.#template = literals && !INLINE_THINKER.test(reply.model) ? new TextEventTemplate() : undefined;
  }

  push(bytes: Buffer): readonly GenerationEvent[] {
    return this.#ended ? [] : this.#guard((events) => this.#readFramed(this.#framing.push(bytes), events));
  }

  end(): readonly GenerationEvent[] {
    if (this.#ended) return [];
    return this.#guard((events) => {
      const { texts, cut } = this.#framing.end();
      this.#read(texts, events);
      if (this.#ended) return;
      this.#ended = true;
      if (cut || !this.#reader.finished) events.push({ type: 'error', failure: INTERRUPTED });
      else for (const event of this.#reader.end()) events.push(event);
    });
  }

  #readFramed(framed: Framed, events: GenerationEvent[]): void {
    const template = framed.isSse ? this.#template : undefined;
    const bytes = template && this.#isText && framed.whole ? EventBytes.of(framed.whole) : undefined;
    if (template && bytes) this.#readBytes(bytes, template, events);
    else this.#readOthers(framed.texts, events);
  }

  /** Reads server-sent events. Events that fit the template pass as literals, and `#readOthers` reads the others. */
  #readBytes(bytes: EventBytes, template: TextEventTemplate, events: GenerationEvent[]): void {
    const { view } = bytes;
    const returns = hasReturns(view);
    for (let from = 0, to = 0; from < view.length && !this.#ended; from = to) {
      const texts = template.read(view, from);
      if (texts) {
        this.progress += texts.literals.length;
        this.#reader.readTexts(texts, events);
        to = texts.end;
        continue;
      }
      to = eventEnd(view, from, returns);
      const chunks = this.#readOthers(dataOf(bytes.text(from, to)), events);
      if (this.#isText && chunks.length === 1) template.learn(view.slice(from, to), chunks[0]);
      if (this.#isText || this.#ended) continue;
      // Events of another kind follow each other too: reading them one by one costs a fifth more (measured).
      this.#readOthers(dataOf(bytes.text(to, view.length)), events);
      return;
    }
  }

  /** Does what `#read` does, and notes whether the next event is likely a text. */
  #readOthers(texts: readonly string[], events: GenerationEvent[]): readonly unknown[] {
    const chunks = this.#read(texts, events);
    if (this.#template && chunks.length > 0) this.#isText = this.#template.expects(chunks.at(-1));
    return chunks;
  }

  /** Reads the JSON values of `texts` into `events`. Returns the values. */
  #read(texts: readonly string[], events: GenerationEvent[]): readonly unknown[] {
    const read: unknown[] = [];
    for (const text of texts) {
      for (const chunk of chunksOf(text)) {
        read.push(chunk);
        this.progress += 1;
        for (const event of this.#reader.read(chunk)) events.push(event);
        if (events.at(-1)?.type !== 'error') continue;
        this.#ended = true;
        return read;
      }
    }
    return read;
  }

  /** An unreadable event ends the stream. The events before it still count. */
  #guard(work: (events: GenerationEvent[]) => void): GenerationEvent[] {
    const events: GenerationEvent[] = [];
    try {
      work(events);
    } catch (error) {
      const failure = unreadable(error);
      this.#ended = true;
      events.push({ type: 'error', failure });
    }
    return events;
  }
}
