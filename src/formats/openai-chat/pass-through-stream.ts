import type { JsonObject } from '../conversation.ts';
import { createSignals, type Signals } from '../events.ts';
import type { ClientContext, PassThrough } from '../format.ts';
import { PlainPassThrough, type WholeReply } from '../streams/plain-pass-through.ts';
import { parseReplyText } from '../json/rounding.ts';
import { noteAnswer, noteFinish } from '../streams/signals.ts';
import { eventEnd, hasId, hasReturns, readSse, SseCutter } from '../sse/event-stream.ts';
import { EventTemplate } from '../sse/event-template.ts';
import { textOf } from '../sse/stream-start.ts';
import { mapFinish, decodeUsage } from './reply-fields.ts';
import { decodeReply } from './decode-reply.ts';
import { hasContent, hasOutput, EXTENSION_KEYS, isEmptyChunk, removeExtensions } from './chunk-fields.ts';
import { encodeStream } from './encode-stream.ts';
import { withCount } from '../broken-generation.ts';
import { CUT_SHORT, failureOfEvent, GARBLED, NO_ANSWER, streamInterrupted, UNFINISHED, unreadable } from './errors.ts';
import type { JsonSpan } from '../json/members.ts';
import { DATA_LINE, usageMember } from './stream-usage.ts';
import { isKeepAlive } from './read.ts';
import { isObject, parseJson, stringOf } from '../json/object.ts';
import { CLOSE_OBJECT } from '../json/scan.ts';

/** The outcome for an event: it is sent, it is not sent, or the reply ends before it. */
type Fate = 'keep' | 'drop' | 'stop';

const LF = 0x0a;
const CR = 0x0d;

/**
 * Passes chunks on as the received bytes. Most chunks are only searched for a few keys. The first ones (until content
 * was seen) and those with a finish reason, usage or an error are parsed.
 */
export class StreamPassThrough implements PassThrough {
  readonly signals: Signals;
  readonly #client: ClientContext;
  readonly #cutter = new SseCutter();
  readonly #seen = new Set<number>();
  readonly #finished = new Set<number>();
  /** Templates of ordinary events, which leave as they came. */
  readonly #ordinary: EventTemplate;
  #stopped = false;
  #keepAlives = 0;
  /** The upstream has closed: the held rest is inspected in any case. */
  #closed = false;

  constructor(client: ClientContext, signals: Signals = createSignals(), ordinary = new EventTemplate(FREE_TEXT)) {
    this.#client = client;
    this.signals = signals;
    this.#ordinary = ordinary;
  }

  push(bytes: Buffer): Buffer | undefined {
    if (this.#stopped) return undefined;
    const whole = this.#cutter.push(bytes);
    if (this.#cutter.failure) this.#fail(this.#cutter.failure);
    return whole && this.#pass(whole);
  }

  end(): Buffer | undefined {
    if (this.#stopped) return undefined;
    this.#closed = true;
    const rest = this.#cutter.rest();
    if (this.signals.progress === 0 && isJson(rest)) return this.#passWhole(rest);
    const last = this.#passRest(rest);
    if (this.#stopped) return last;
    if (this.#seen.size === 0 || !this.#allFinished()) {
      this.#fail(streamInterrupted(CUT_SHORT));
      return last;
    }
    // The reply is complete, but servers that only close the connection omit `[DONE]`, which clients expect.
    this.#end();
    const done = Buffer.from('data: [DONE]\n\n');
    return last ? Buffer.concat([last, done]) : done;
  }

  /** A plain reply or error of a server that does not stream is sent as the requested stream. */
  #passWhole(rest: Buffer): Buffer | undefined {
    this.#stopped = true;
    const asStream = ({ events }: WholeReply): Buffer =>
      Buffer.from(encodeStream(this.#client, this.signals).push(events));
    const reader = new PlainPassThrough(decodeReply, this.#client.model, asStream, this.signals);
    reader.push(rest);
    return reader.end();
  }

  /** The last event may lack its blank line, which clients wait for. A truncated event does not parse. */
  #passRest(rest: Buffer): Buffer | undefined {
    return isData(rest.toString('latin1')) ? this.#pass(Buffer.concat([rest, Buffer.from('\n\n')])) : undefined;
  }

  #pass(whole: Buffer): Buffer | undefined {
    const text = whole.toString('latin1');
    const returns = hasReturns(text);
    const pieces: Buffer[] = [];
    let kept = 0;
    for (let from = 0, to = 0; from < text.length && !this.#stopped; from = to) {
      if (!this.#closed && !this.#isAwaiting && (to = this.#ordinary.match(text, from)) > 0) {
        this.signals.progress += 1;
        this.signals.text += this.#ordinary.freeLength;
        const { removed } = this.#ordinary;
        if (!removed) continue;
        pieces.push(whole.subarray(kept, removed.from));
        kept = removed.to;
        continue;
      }
      to = eventEnd(text, from, returns);
      const event = text.slice(from, to);
      if (!isData(event)) continue;
      const before = this.#keepAlives;
      const rare = this.#closed || this.#isRare(event);
      const fate = rare ? this.#inspect(whole.subarray(from, to)) : 'keep';
      if (this.#keepAlives === before) this.signals.progress += 1;
      const edit = this.#editOf(event, fate, whole.subarray(from, to));
      if (!rare && !this.#hasExtensions(event)) this.#ordinary.learn(event, edit);
      if (edit) {
        pieces.push(whole.subarray(kept, from + edit.from));
        if (edit.by) pieces.push(edit.by);
        kept = from + edit.to;
      }
      // Nothing follows an error or [DONE].
      if (this.#stopped) {
        pieces.push(whole.subarray(kept, to));
        kept = whole.length;
      }
    }
    if (kept === 0) return whole;
    if (kept < whole.length) pieces.push(whole.subarray(kept));
    // Most streams are sent as one piece up to `[DONE]`, which is no reason for a copy.
    const left = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
    return left.length > 0 ? left : undefined;
  }

  /** The span of the event that is removed, and the bytes that replace it. */
  #editOf(event: string, fate: Fate, bytes: Buffer): Edit | undefined {
    if (fate !== 'keep') return { from: 0, to: event.length };
    if (this.#hasExtensions(event)) {
      const by = this.#withoutExtensions(bytes);
      if (by) return { from: 0, to: event.length, by };
    }
    // The gateway requests usage from every upstream. A client that did not request it gets no `usage`, not even null.
    return this.#client.includeUsage ? undefined : usageMember(event);
  }

  #hasExtensions(event: string): boolean {
    return this.#client.strict && EXTENSIONS.test(event);
  }

  /** Returns the event without extensions, empty when nothing else is left, or undefined when it has no extensions. */
  #withoutExtensions(bytes: Buffer): Buffer | undefined {
    const chunk = readSse(bytes).map(({ data }) => parseChunk(data))[0];
    if (!chunk || !removeExtensions(chunk, this.signals)) return undefined;
    if (!this.#client.includeUsage) delete chunk.usage;
    return Buffer.from(isEmptyChunk(chunk) ? '' : `data: ${JSON.stringify(chunk)}\n\n`);
  }

  #isRare(event: string): boolean {
    const { content, model } = this.signals;
    return !content || this.#isAwaiting || model === undefined || !isChunk(event) || RARE.test(event);
  }

  /** The bytes of an event do not show whether it is a thought or a text, so each event is read until output comes. */
  get #isAwaiting(): boolean {
    return this.#client.awaitsOutput === true && !this.signals.output;
  }

  #inspect(bytes: Buffer): Fate {
    if (hasId(bytes)) this.signals.named = true;
    for (const { event, data } of readSse(bytes)) {
      if (data.startsWith('[DONE]')) return this.#done();
      if (data === '') {
        this.#keepAlives += 1;
        // The event was cut just after `data:`.
        return this.#closed ? 'drop' : 'keep';
      }
      const chunk = parseJson(data);
      if (chunk === undefined) return this.#fail(this.#closed ? streamInterrupted(CUT_SHORT) : unreadable(GARBLED));
      const failure = failureOfEvent(event, chunk);
      if (failure) {
        const usage =
          isObject(chunk) && isObject(chunk.usage) ? decodeUsage(chunk.usage, chunk.service_tier) : undefined;
        this.signals.usage = usage ?? this.signals.usage;
        return this.#fail(withCount(failure, usage));
      }
      if (isObject(chunk)) return this.#note(chunk);
    }
    return 'keep';
  }

  #done(): Fate {
    if (this.#seen.size === 0) return this.#fail(streamInterrupted(NO_ANSWER));
    // Proxies send `[DONE]` after an interrupted stream too.
    if (!this.#allFinished()) return this.#fail(streamInterrupted(UNFINISHED));
    this.#end();
    this.#stopped = true;
    return 'keep';
  }

  #allFinished(): boolean {
    return this.#finished.size === this.#seen.size;
  }

  #end(): void {
    this.signals.content = this.signals.ended = true;
  }

  #fail(failure: NonNullable<Signals['failure']>): Fate {
    this.signals.failure = failure;
    this.#stopped = true;
    return 'stop';
  }

  #note(chunk: JsonObject): Fate {
    const { signals } = this;
    if (isKeepAlive(chunk)) this.#keepAlives += 1;
    signals.model ??= stringOf(chunk.model) || undefined;
    const choices = Array.isArray(chunk.choices) ? chunk.choices : [];
    choices.forEach((choice: unknown, at) => {
      if (isObject(choice)) this.#noteChoice(choice, at);
    });
    if (!isObject(chunk.usage)) return 'keep';
    signals.usage = decodeUsage(chunk.usage, chunk.service_tier) ?? signals.usage;
    return choices.length === 0 && !this.#client.includeUsage ? 'drop' : 'keep';
  }

  #noteChoice(choice: JsonObject, at: number): void {
    const { signals } = this;
    const index = typeof choice.index === 'number' ? choice.index : at;
    this.#seen.add(index);
    if (isObject(choice.delta) && hasContent(choice.delta))
      noteAnswer(signals, signals.output || hasOutput(choice.delta));
    const word = stringOf(choice.finish_reason);
    // Some servers write the empty string where OpenAI writes null.
    if (!word) return;
    this.#finished.add(index);
    noteFinish(signals, mapFinish(word, false), word);
    // A choice that a filter stopped is not content: another choice may still answer.
    if (!signals.blocked) signals.content = true;
  }
}

type Edit = JsonSpan & { readonly by?: Buffer };

/** True for a plain JSON body. An event stream never begins this way. */
function isJson(bytes: Buffer): boolean {
  return /^\s*[{[]/.test(textOf(bytes.subarray(0, 64)));
}

function parseChunk(data: string): JsonObject | undefined {
  try {
    const chunk = parseReplyText(data);
    return isObject(chunk) ? chunk : undefined;
  } catch {
    return undefined;
  }
}

function isData(event: string): boolean {
  return event.startsWith('data:') || DATA_LINE.test(event);
}

/** Matches a member of the keys whose value does not begin with `usual`. json-span.ts explains the backslash. */
const memberPattern = (keys: string, usual: string): string =>
  `(?<!\\\\)"(?:${keys})"[ \\t\\r\\n]*:[ \\t\\r\\n]*(?:[^${usual} \\t\\r\\n]|$)`;

/** Matches the beginning of a JSON object, up to its first value. */
const OBJECT = /^data: ?\{[ \t]*"[^"\\]*"[ \t]*:[ \t]*(?:["\d{[-]|null|true|false)/;

/** True for one line that is a JSON object. Any other event (an HTML page, half a chunk) is parsed. */
function isChunk(event: string): boolean {
  let last = event.length - 1;
  while (event.charCodeAt(last) === LF || event.charCodeAt(last) === CR) last -= 1;
  return event.charCodeAt(last) === CLOSE_OBJECT && OBJECT.test(event);
}

/**
 * One search for all features of a rare event, because every event pays for it (measured: 0.3 µs; a search for each
 * feature cost 1 µs). The features are: no object (`[DONE]`), a named event, a finish reason, usage or error that is
 * not null, an error in place of a chunk, another choice or tool call than the first, or no choice at all.
 */
const RARE = new RegExp(
  [
    '^data: ?[^{ ]',
    '[\\r\\n]event:',
    memberPattern('finish_reason|usage|error', 'n'),
    memberPattern('index', '0'),
    '(?<!\\\\)"object"[ \\t]*:[ \\t]*"error"',
    '"choices"[ \\t]*:[ \\t]*\\[[ \\t]*\\]',
  ].join('|'),
);

/** Texts that are no feature of an event. `obfuscation` is padding (docs/protocols/openai-chat.md#stream). */
export const FREE_TEXT = /"(?:content|arguments|refusal|reasoning_content|reasoning|obfuscation)":"/g;

const EXTENSIONS = new RegExp(memberPattern(EXTENSION_KEYS, 'n'));
