import type { JsonObject } from '../conversation.ts';
import type { FinishReason, GenerationEvent } from '../events.ts';
import type { ClientContext } from '../format.ts';
import { mediaKind } from '../media.ts';
import { choiceNotes, isBlock, mediaItem } from './content-blocks.ts';
import { audioFrame, encodeCitation, encodeLogprobs } from './encode-reply.ts';
import { compact } from './read.ts';

/** What every chunk begins and ends with, around the choice. */
export interface ChunkFrame {
  readonly head: string;
  readonly tail: string;
}

export type ChoiceEvent = Exclude<GenerationEvent, { type: 'start' | 'usage' | 'ping' | 'error' | 'end' | 'text' }>;
type Of<T extends ChoiceEvent['type']> = Extract<ChoiceEvent, { type: T }>;

interface CallState {
  readonly index: number;
  readonly custom: boolean;
  empty: boolean;
}

/** Writes the chunks of one choice. */
export class ChoiceWriter {
  readonly #frame: ChunkFrame;
  readonly #client: ClientContext;
  /** Up to the value of `delta`, and up to the value of its `content`. */
  readonly #head: string;
  readonly #textHead: string;
  readonly #tail: string;
  readonly #calls = new Map<number, CallState>();
  #roleSent = false;
  /** For clients that are not strict: blocks are shown (content-blocks.ts has the rule), or the text until they are. */
  #blocksShown = false;
  #unshown: { readonly index: number; text: string }[] = [];
  #refused = false;
  #finish: Of<'finish'> | undefined;
  readonly #index: number;

  constructor(index: number, frame: ChunkFrame, client: ClientContext) {
    this.#index = index;
    this.#frame = frame;
    this.#client = client;
    this.#head = `${frame.head}{"index":${index},"delta":`;
    this.#textHead = `${this.#head}{"content":`;
    this.#tail = `,"finish_reason":null}${frame.tail}`;
  }

  role(): string {
    if (this.#roleSent) return '';
    this.#roleSent = true;
    return `${this.#head}{"role":"assistant","content":""}${this.#tail}`;
  }

  /** The hot path. */
  text(text: string, block: number): string {
    const role = this.#roleSent ? '' : this.role();
    if (text === '') return role;
    const json = JSON.stringify(text);
    if (this.#client.strict) return `${role}${this.#textHead}${json}}${this.#tail}`;
    if (this.#blocksShown) {
      return `${role}${this.#textHead}${json},"content_blocks":[{"index":${block},"delta":{"text":${json}}}]}${this.#tail}`;
    }
    this.#remember(text, block);
    return `${role}${this.#textHead}${json}}${this.#tail}`;
  }

  #remember(text: string, index: number): void {
    const last = this.#unshown.at(-1);
    if (last?.index === index) last.text += text;
    else this.#unshown.push({ index, text });
  }

  write(event: ChoiceEvent): string {
    return this.role() + this.#write(event);
  }

  #write(event: ChoiceEvent): string {
    switch (event.type) {
      case 'thinking':
        return event.text === '' ? '' : this.#block(event.block, { thinking: event.text });
      case 'signature':
        return this.#block(event.block, { signature: event.signature });
      case 'redacted_thinking':
        return this.#block(event.block, { data: event.data });
      case 'code':
      case 'code_result': {
        const { choice: _, block, ...value } = event;
        return this.#block(block, value);
      }
      case 'opaque':
        return isBlock(event.value) ? this.#block(event.block, event.value) : this.#notes(event.value);
      case 'refusal':
        this.#refused = true;
        return event.text === '' ? '' : this.#delta({ refusal: event.text });
      case 'tool_call':
        return this.#call(event);
      case 'tool_arguments':
        return this.#arguments(event);
      case 'media':
        return this.#media(event);
      case 'citation':
        return this.#delta({ annotations: [encodeCitation(event.citation)] });
      case 'logprobs':
        return `${this.#head}{},"logprobs":${JSON.stringify(encodeLogprobs(event.tokens))}${this.#tail}`;
      case 'finish':
        this.#finish = event;
        return '';
    }
  }

  #delta(delta: JsonObject): string {
    return `${this.#head}${JSON.stringify(delta)}${this.#tail}`;
  }

  /** The first block brings with it the texts that had left as content alone, so that the list is whole. */
  #block(index: number, delta: JsonObject): string {
    if (this.#client.strict) return '';
    const earlier = this.#blocksShown ? [] : this.#unshown.map(({ index, text }) => ({ index, delta: { text } }));
    this.#blocksShown = true;
    this.#unshown = [];
    return this.#delta({ content_blocks: [...earlier, { index, delta }] });
  }

  #notes(value: JsonObject): string {
    if (this.#client.strict) return '';
    const notes = JSON.stringify(choiceNotes(value)).slice(1, -1);
    return notes === '' ? '' : `${this.#head}{},${notes}${this.#tail}`;
  }

  #media(event: Of<'media'>): string {
    if (mediaKind(event.mime) === 'audio')
      return this.#delta({ audio: { ...audioFrame(this.#client), data: event.data } });
    if (this.#client.strict) return '';
    return this.#delta({ content_parts: [mediaItem(event.mime, event.data, event.signature)] });
  }

  /** Indexes count the calls of this choice, whatever the provider's blocks were (wire.md A6). */
  #call(event: Of<'tool_call'>): string {
    const { id, name } = event;
    const state: CallState = { index: this.#calls.size, custom: event.custom === true, empty: true };
    this.#calls.set(event.call, state);
    const signature = this.#client.strict ? undefined : event.signature;
    const call = state.custom
      ? { index: state.index, id, type: 'custom', custom: compact({ name, input: '', thought_signature: signature }) }
      : {
          index: state.index,
          id,
          type: 'function',
          function: compact({ name, arguments: '', thought_signature: signature }),
        };
    return this.#delta({ tool_calls: [call] });
  }

  #arguments(event: Of<'tool_arguments'>): string {
    const state = this.#calls.get(event.call);
    if (!state || event.text === '') return '';
    state.empty = false;
    return this.#fragment(state, event.text);
  }

  #fragment({ index, custom }: CallState, text: string): string {
    const field = custom ? '"custom":{"input"' : '"function":{"arguments"';
    return `${this.#head}{"tool_calls":[{"index":${index},${field}:${JSON.stringify(text)}}}]}${this.#tail}`;
  }

  /** The last chunk of the choice. Absent reasons read as wire.md D10 says. */
  finish(): string {
    let out = this.role();
    // Clients parse the arguments: a call without any gets the empty object, as in the plain reply.
    for (const call of this.#calls.values()) if (call.empty && !call.custom) out += this.#fragment(call, '{}');
    const reason: FinishReason = this.#finish?.reason ?? (this.#calls.size > 0 ? 'tool_calls' : 'stop');
    const explanation = reason === 'content_filter' ? this.#finish?.message : undefined;
    if (explanation && !this.#refused) out += this.#delta({ refusal: explanation });
    const native = this.#client.strict ? undefined : this.#finish?.native;
    const choice = compact({ index: this.#index, delta: {}, finish_reason: reason, native_finish_reason: native });
    return `${out}${this.#frame.head}${JSON.stringify(choice)}${this.#frame.tail}`;
  }
}
