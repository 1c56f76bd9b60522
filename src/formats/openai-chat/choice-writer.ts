import type { JsonObject } from '../conversation.ts';
import type { FinishReason, ChoiceEvent } from '../events.ts';
import type { ClientContext } from '../format.ts';
import { mediaKind } from '../media/media-types.ts';
import { encodeCitation, encodeLogprobs, encodeFinish } from './reply-fields.ts';
import { AFTER_THOUGHTS, attachedFields, choiceNotes, isBlock, mediaItem, signatureFields } from './content-blocks.ts';
import { textOfLiteral, toBytes } from '../json/literal.ts';
import { tagOf } from '../maker.ts';
import { mcpBlock } from '../mcp-parts.ts';
import { CallWriter } from './reply-calls.ts';
import { audioName } from './audio.ts';

/** The text of every chunk before and after its choice. */
export interface ChunkFrame {
  readonly head: string;
  readonly tail: string;
}

/** The bytes before the first literal of a text, between two of them, and after the last. */
interface LiteralFrame {
  readonly head: string;
  readonly between: string;
  readonly tail: string;
}

type Of<T extends ChoiceEvent['type']> = Extract<ChoiceEvent, { type: T }>;

/** Writes the chunks of one choice. */
export class ChoiceWriter {
  readonly #frame: ChunkFrame;
  readonly #client: ClientContext;
  /** Text of a chunk up to the value of `delta`, and up to the value of `delta.content`. */
  readonly #head: string;
  readonly #textHead: string;
  readonly #tail: string;
  #literalFrame: LiteralFrame | undefined;
  readonly #calls: CallWriter;
  readonly #parts = new StreamedParts();
  #roleSent = false;
  /** `content_blocks` were sent (content-blocks.ts has the rule). Until then, `#unshown` collects the texts. */
  #blocksShown = false;
  #unshown: { readonly index: number; text: string }[] = [];
  /** Block of the last text. Unset once a medium separates that text from the next (hasNeighbours in content-blocks.ts). */
  #neighbour: number | undefined;
  /** Block of the last thinking that was sent. */
  #thought: number | undefined;
  /** Thoughts were sent as text, so a separator precedes the answer. */
  #thoughtInline = false;
  #refused = false;
  /** The id and expiry of the audio were sent. They are sent once, because clients join the fields of the pieces. */
  #audioOpen = false;
  #finish: Of<'finish'> | undefined;
  readonly #index: number;

  constructor(index: number, frame: ChunkFrame, client: ClientContext) {
    this.#index = index;
    this.#frame = frame;
    this.#client = client;
    this.#calls = new CallWriter(client);
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
  text(event: Of<'text'>): string {
    if (event.text === '') return this.role();
    const begin = this.#beginText();
    if (!this.#client.strict && this.#isShown(event)) return begin + this.#shownText(event);
    return `${begin}${this.#textHead}${JSON.stringify(event.text)}}${this.#tail}`;
  }

  /** The hottest path: writes a chunk for each literal of a text, and adds the bytes of the chunks to `pieces`. */
  literals(event: Of<'text'>, literals: readonly string[], pieces: string[]): void {
    const begin = this.#beginText();
    if (begin !== '') pieces.push(toBytes(begin));
    if (!this.#client.strict && this.#isShown(event)) {
      const { block } = event;
      for (const literal of literals) pieces.push(toBytes(this.#shownText({ text: textOfLiteral(literal), block })));
      return;
    }
    const { head, between, tail } = (this.#literalFrame ??= this.#toLiteralFrame());
    pieces.push(head, literals.join(between), tail);
  }

  #toLiteralFrame(): LiteralFrame {
    const head = toBytes(`${this.#textHead}"`);
    const tail = toBytes(`"}${this.#tail}`);
    return { head, between: [tail, head].join(''), tail };
  }

  /** The bytes before a text. */
  #beginText(): string {
    const role = this.#roleSent ? '' : this.role();
    if (!this.#thoughtInline) return role;
    this.#thoughtInline = false;
    return role + this.#delta({ content: AFTER_THOUGHTS });
  }

  /** Returns true for a text that is sent as a block too. Remembers any other text for a later block. */
  #isShown({ text, block }: Of<'text'>): boolean {
    this.#parts.text(text, block);
    const apart = this.#neighbour !== undefined && this.#neighbour !== block;
    this.#neighbour = block;
    if (this.#blocksShown || apart) return true;
    this.#remember(text, block);
    return false;
  }

  #shownText({ text, block }: Pick<Of<'text'>, 'text' | 'block'>): string {
    const json = JSON.stringify(text);
    const blocks = `${this.#showBlocks()}{"index":${block},"delta":{"text":${json}}}`;
    return `${this.#textHead}${json},"content_blocks":[${blocks}]}${this.#tail}`;
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
      case 'text':
        return event.spoken ? this.#delta({ audio: { transcript: event.text } }) : this.text(event);
      case 'thinking':
        return this.#thinking(event);
      case 'signature':
        return this.#block(event.block, { ...signatureFields(this.#signed(event)) });
      case 'redacted_thinking':
        return this.#block(event.block, { data: event.data, ...tagOf(event) });
      case 'code':
      case 'code_result': {
        const { choice: _, block, ...value } = event;
        return this.#block(block, value);
      }
      case 'mcp_call':
      case 'mcp_result':
        return this.#block(event.block, mcpBlock(event));
      case 'opaque':
        return this.#opaque(event);
      case 'refusal':
        this.#refused = true;
        return event.text === '' ? '' : this.#delta({ refusal: event.text });
      case 'tool_call':
        return this.#chunk(this.#calls.start(event));
      case 'tool_arguments': {
        const delta = this.#calls.arguments(event.call, event.text);
        return delta === undefined ? '' : this.#chunk(delta);
      }
      case 'media':
        return this.#media(event);
      case 'citation':
        return this.#delta({ annotations: [encodeCitation(event.citation)] });
      case 'logprobs':
        return this.#logprobs(event);
      case 'finish':
        this.#finish = event;
        return '';
    }
  }

  #delta(delta: JsonObject): string {
    return this.#chunk(JSON.stringify(delta));
  }

  #chunk(delta: string): string {
    return `${this.#head}${delta}${this.#tail}`;
  }

  /** Empty thinking is sent too: it may be signed (measured on Claude), and a lone signature is that of a text. */
  #thinking({ block, text, inline }: Of<'thinking'>): string {
    if (!inline || this.#client.strict) {
      if (text === '' && this.#thought === block) return '';
      this.#thought = block;
      return this.#block(block, { thinking: text });
    }
    if (text === '') return '';
    this.#thought = block;
    this.#thoughtInline = true;
    const json = JSON.stringify(text);
    const blocks = `${this.#showBlocks()}{"index":${block},"delta":{"thinking":${json}}}`;
    return this.#chunk(`{"content":${json},"content_blocks":[${blocks}]}`);
  }

  /** A signature belongs to the thinking or text of its block. */
  #signed(event: Of<'signature'>): Omit<Of<'signature'>, 'type'> & { type: string } {
    return { ...event, type: this.#thought === event.block ? 'thinking' : 'text' };
  }

  /** The first block follows the texts that were sent only as `content`, so that the list is complete. */
  #block(index: number, delta: JsonObject): string {
    if (this.#client.strict) return '';
    const blocks = `${this.#showBlocks()}{"index":${index},"delta":${JSON.stringify(delta)}}`;
    return this.#chunk(`{"content_blocks":[${blocks}]}`);
  }

  /** JSON of the texts that were not yet sent as blocks, each followed by a comma. */
  #showBlocks(): string {
    this.#blocksShown = true;
    if (this.#unshown.length === 0) return '';
    const earlier = this.#unshown.map(({ index, text }) => `${JSON.stringify({ index, delta: { text } })},`).join('');
    this.#unshown = [];
    return earlier;
  }

  #opaque(event: Of<'opaque'>): string {
    if (!event.attached) return isBlock(event.value) ? this.#block(event.block, event.value) : this.#notes(event.value);
    const fields = attachedFields(event);
    return fields ? this.#block(event.block, fields) : '';
  }

  #notes(value: JsonObject): string {
    if (this.#client.strict) return '';
    const notes = JSON.stringify(choiceNotes(value)).slice(1, -1);
    return notes === '' ? '' : `${this.#head}{},${notes}${this.#tail}`;
  }

  #logprobs({ tokens, refusal }: Of<'logprobs'>): string {
    const logprobs = refusal ? encodeLogprobs([], tokens) : encodeLogprobs(tokens, []);
    return logprobs ? `${this.#head}{},"logprobs":${JSON.stringify(logprobs)}${this.#tail}` : '';
  }

  #media(event: Of<'media'>): string {
    if (mediaKind(event.mime) === 'audio') {
      const name = this.#audioOpen ? {} : audioName(event.stored, this.#client);
      this.#audioOpen = true;
      return this.#delta({ audio: { ...name, data: event.data } });
    }
    if (this.#client.strict) return '';
    this.#neighbour = undefined;
    return this.#delta({ content_parts: this.#parts.media(mediaItem(event.mime, event.data, event)) });
  }

  /** The last chunks. A missing reason is `stop` (docs/protocols/replies.md#missing-finish-reason). */
  finish(): string {
    let out = this.role();
    const rest = this.#parts.rest();
    if (rest.length > 0) out += this.#delta({ content_parts: rest });
    for (const delta of this.#calls.close()) out += this.#chunk(delta);
    const reason: FinishReason = this.#finish?.reason ?? (this.#calls.any ? 'tool_calls' : 'stop');
    const explanation = reason === 'content_filter' ? this.#finish?.message : undefined;
    if (explanation && !this.#refused) out += this.#delta({ refusal: explanation });
    const ending = { reason, native: this.#finish?.native, legacy: this.#calls.legacy };
    const choice = { index: this.#index, delta: {}, ...encodeFinish(ending, this.#client.strict) };
    return `${out}${this.#frame.head}${JSON.stringify(choice)}${this.#frame.tail}`;
  }
}

/**
 * Builds `content_parts` of a stream. Joined in order, the pieces are the list of a plain reply: texts and media in
 * order, so that a client can send them back unchanged. A text is one item, held until the next medium or the end. The
 * client already has it as `content`, so the delay costs nothing.
 */
class StreamedParts {
  #held: { readonly block: number; text: string }[] = [];
  #shown = false;

  text(text: string, block: number): void {
    const last = this.#held.at(-1);
    if (last?.block === block) last.text += text;
    else this.#held.push({ block, text });
  }

  /** Returns the held texts, then the medium. */
  media(item: JsonObject): readonly JsonObject[] {
    this.#shown = true;
    return [...this.#texts(), item];
  }

  /** Returns the texts after the last medium. An answer without media has no such list. */
  rest(): readonly JsonObject[] {
    return this.#shown ? this.#texts() : [];
  }

  #texts(): JsonObject[] {
    const texts = this.#held.map(({ text }) => ({ type: 'text', text }));
    this.#held = [];
    return texts;
  }
}
