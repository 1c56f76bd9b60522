import type { JsonObject, Part } from '../conversation.ts';
import {
  type ChoiceEvent,
  type EventOf,
  type FinishReason,
  type GenerationEvent,
  type LogprobToken,
  type UrlCitation,
  type Usage,
  repeatable,
} from '../events.ts';
import type { ClientContext, StreamEncoder } from '../format.ts';
import { noLosses, type LossNotes } from '../losses/reply-losses.ts';
import { encodeAnswerPart, encodeLogprobs, loseForeign, words, encodeEnding, encodeEnvelope } from './encode-reply.ts';
import { ArrayFrame, SSE_FRAME, type StreamFrame } from './json-array.ts';
import { CarriedThought, withThought } from './carried-thought.ts';
import { isCandidateMetadata } from './metadata.ts';
import { signatureForClient } from './thought-signature.ts';
import { inOrder } from '../streams/call-order.ts';

export function encodeStream(client: ClientContext, notes: LossNotes = noLosses()): StreamEncoder {
  return inOrder(new GeminiStreamEncoder(client, notes, SSE_FRAME), client);
}

/** The stream of a client that did not ask for server-sent events. */
export function encodeArray(client: ClientContext, notes: LossNotes = noLosses()): StreamEncoder {
  return inOrder(new GeminiStreamEncoder(client, notes, new ArrayFrame()), client);
}

/** As Google ends a stream. Its clients add the texts of all records, and one without a text gives `undefined`. */
const LAST_PART: JsonObject = { text: '' };

/** Events that become a part each. */
type WholeEvent = EventOf<'media' | 'code' | 'code_result' | 'mcp_call' | 'mcp_result' | 'opaque'>;

interface PendingCall {
  readonly event: EventOf<'tool_call'>;
  arguments: string;
}

interface RecordDraft {
  readonly parts: JsonObject[];
  readonly tokens: LogprobToken[];
}

interface ChoiceState {
  /** This API sends calls whole, and parallel ones together. Arguments are those of the last. */
  readonly calls: PendingCall[];
  /** The open part of this push: further text of its block is added to it. */
  open: { readonly block: number; readonly part: JsonObject } | undefined;
  thinkingBlock: number | undefined;
  readonly carried: CarriedThought;
  text: string;
  finish: FinishReason | undefined;
  native: string | undefined;
  message: string | undefined;
  readonly citations: UrlCitation[];
  readonly metadata: JsonObject;
}

/** Writes a record per push with content. The last has finish reason and usage (docs/protocols/gemini.md#stream). */
class GeminiStreamEncoder implements StreamEncoder {
  readonly #client: ClientContext;
  readonly #notes: LossNotes;
  readonly #frame: StreamFrame;
  readonly #choices = new Map<number, ChoiceState>();
  #id: string | undefined;
  #model: string | undefined;
  #usage: Usage | undefined;
  /** Candidates of the record under construction, by choice. */
  #record = new Map<number, RecordDraft>();

  constructor(client: ClientContext, notes: LossNotes, frame: StreamFrame) {
    this.#frame = frame;
    this.#notes = notes;
    this.#client = client;
  }

  push(events: readonly GenerationEvent[]): string {
    let ended = false;
    for (const event of events) {
      if (event.type === 'start') {
        this.#id ??= repeatable(event.id);
        this.#model ??= repeatable(event.model);
      } else if (event.type === 'usage') this.#usage = event.usage;
      else if (event.type === 'end') ended = true;
      else if (event.type !== 'ping' && event.type !== 'error') this.#choiceEvent(event, this.#choice(event.choice));
    }
    const records = this.#contentRecord() + (ended ? this.#lastRecord() + this.#frame.end() : '');
    for (const state of this.#choices.values()) state.open = undefined;
    return records;
  }

  #choiceEvent(event: ChoiceEvent, state: ChoiceState): void {
    switch (event.type) {
      case 'tool_call':
        state.calls.push({ event, arguments: '' });
        return;
      case 'tool_arguments': {
        const call = state.calls.at(-1);
        if (call) call.arguments += event.text;
        return;
      }
      case 'finish':
        state.finish = event.reason;
        state.native = event.native;
        state.message = event.message;
        return;
      case 'citation':
        state.citations.push(event.citation);
        return;
      case 'logprobs':
        // No spread: a long answer has more tokens than a call may have arguments.
        for (const token of event.tokens) this.#candidate(event.choice).tokens.push(token);
        return;
      default:
        this.#content(event, state);
    }
  }

  #content(
    event: Exclude<ChoiceEvent, { type: 'tool_call' | 'tool_arguments' | 'finish' | 'citation' | 'logprobs' }>,
    state: ChoiceState,
  ): void {
    this.#flushCalls(event.choice, state);
    switch (event.type) {
      case 'text':
      case 'thinking':
        if (event.type === 'text') state.text += event.text;
        else state.thinkingBlock = event.block;
        if (event.type === 'thinking') state.carried.words(event.block, event.text);
        if (event.type === 'thinking' && this.#client.hideThoughts) return;
        return this.#words(event, state);
      case 'signature':
        return this.#sign(event, state);
      case 'refusal':
        return this.#part(event.choice, { text: event.text }, state);
      case 'redacted_thinking':
        loseForeign(event, this.#notes);
        return state.carried.redacted();
      case 'opaque':
        if (event.format === 'gemini' && isCandidateMetadata(event.value)) Object.assign(state.metadata, event.value);
        else this.#whole(event, state);
        return;
      default:
        this.#whole(event, state);
    }
  }

  #whole(event: WholeEvent, state: ChoiceState): void {
    const answered = partOf(event);
    loseForeign(answered, this.#notes);
    const part = encodeAnswerPart(answered);
    if (part) this.#part(event.choice, part, state);
  }

  #words(event: EventOf<'text' | 'thinking'>, state: ChoiceState): void {
    if (state.open?.block === event.block) state.open.part['text'] = `${String(state.open.part['text'])}${event.text}`;
    else {
      const part = words(event.text, event.type === 'thinking', undefined);
      this.#part(event.choice, part, state);
      state.open = { block: event.block, part };
    }
  }

  /** Puts the signature on its part while that is unsent, afterwards on an empty part, as Google itself streams it. */
  #sign(event: EventOf<'signature'>, state: ChoiceState): void {
    const { choice, block } = event;
    const type = state.thinkingBlock === block ? 'thinking' : 'text';
    if (type === 'thinking') state.carried.sign(event);
    if (type === 'thinking' && this.#client.hideThoughts) return;
    const signature = signatureForClient({ ...event, type });
    if (state.open?.block === block) state.open.part['thoughtSignature'] = signature;
    else this.#part(choice, words('', type === 'thinking', signature), state);
    state.open = undefined;
  }

  #flushCalls(choice: number, state: ChoiceState): void {
    if (state.calls.length === 0) return;
    for (const { event, arguments: text } of state.calls.splice(0)) {
      const part = encodeAnswerPart({ ...event, arguments: text });
      if (part) this.#part(choice, withThought(part, state.carried), state);
    }
  }

  #part(choice: number, part: JsonObject, state: ChoiceState): void {
    state.open = undefined;
    this.#candidate(choice).parts.push(part);
  }

  #contentRecord(): string {
    if (this.#record.size === 0) return '';
    const candidates = [...this.#record].map(([index, { parts, tokens }]) => ({
      content: { role: 'model', parts },
      index,
      ...(tokens.length > 0 && { logprobsResult: encodeLogprobs(tokens) }),
    }));
    this.#record = new Map();
    return this.#write({ candidates, ...this.#envelope(undefined) });
  }

  #lastRecord(): string {
    const candidates = [...this.#choices].map(([index, state]) => {
      this.#flushCalls(index, state);
      const parts = this.#record.get(index)?.parts ?? [LAST_PART];
      return { content: { role: 'model', parts }, ...encodeEnding(state), index };
    });
    this.#record = new Map();
    return this.#write({ candidates, ...this.#envelope(this.#usage) });
  }

  #envelope(usage: Usage | undefined): JsonObject {
    return encodeEnvelope({ id: this.#id, model: this.#model, usage }, this.#client);
  }

  #write(record: JsonObject): string {
    return this.#frame.record(JSON.stringify(record));
  }

  #candidate(choice: number): RecordDraft {
    const candidate = this.#record.get(choice) ?? { parts: [], tokens: [] };
    this.#record.set(choice, candidate);
    return candidate;
  }

  #choice(index: number): ChoiceState {
    let state = this.#choices.get(index);
    if (!state) {
      state = {
        calls: [],
        open: undefined,
        thinkingBlock: undefined,
        carried: new CarriedThought(),
        text: '',
        finish: undefined,
        native: undefined,
        message: undefined,
        citations: [],
        metadata: {},
      };
      this.#choices.set(index, state);
    }
    return state;
  }
}

function partOf(event: WholeEvent): Part {
  if (event.type !== 'media') return event;
  const { mime, data, signature, maker } = event;
  const signed = { ...(signature && { signature }), ...(maker && { maker }) };
  return { type: 'media', media: 'image', mime, source: { kind: 'data', data }, ...signed };
}
