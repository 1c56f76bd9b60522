import type { JsonObject } from '../conversation.ts';
import { writeEnvelope, type Envelope } from '../envelope.ts';
import { makerOf, type Maker } from '../maker.ts';
import { OWN_MAKER, thinkingSignature } from './signatures.ts';
import { EMPTY_TEXT, EMPTY_THINKING, type MessageSink } from './message-sink.ts';
import { listOf } from '../json/object.ts';

interface OpenBlock {
  readonly kind: 'text' | 'thinking' | 'tool';
  readonly index: number;
  /** Number of the upstream's block or of the call. */
  readonly source: number;
  /** Set while the start of the block is unwritten: further fields of a call's block may follow directly. */
  start: JsonObject | undefined;
  /** The free text of a call, which is written once it is whole. */
  input: string | undefined;
  /** Its citations arrived in this format; the neutral citations repeat them. */
  cited: boolean;
}

/** The signature of an upstream's block. */
interface BlockSignature {
  /** Number of the block. */
  readonly block: number;
  readonly signature: string;
  readonly maker?: Maker;
}

/**
 * Keeps the order of blocks (docs/protocols/anthropic-messages.md#block-order): indices count up, one block is open at a time, and each
 * is closed before the next. Fragments of a call come while its block is open (streams/call-order.ts).
 */
export class BlockWriter {
  readonly #sink: MessageSink;
  #open: OpenBlock | undefined;
  /**
   * The signature of a text, written when a block follows. At the end of a message it would be the last block, in which clients such as
   * the Claude Agent SDK look for the answer, and no maker demands the signature of a last text.
   */
  #signed: { readonly envelope: Envelope; readonly source: number } | undefined;
  #next = 0;

  constructor(sink: MessageSink) {
    this.#sink = sink;
  }

  /** True while nothing was written: a reply needs at least one block (docs/protocols/messages-route.md#empty-reply). */
  get empty(): boolean {
    return this.#next === 0;
  }

  /** True while the signature of a text is unwritten. */
  get unsigned(): boolean {
    return this.#signed !== undefined;
  }

  text(source: number, text: string): void {
    // No `citations` without citations, as in all recorded replies: the AI SDK refuses the `null` that the types allow.
    const open = this.#enter('text', source, EMPTY_TEXT);
    if (text !== '') this.#sink.delta(open.index, { type: 'text_delta', text });
  }

  thinking(source: number, thinking: string): void {
    const open = this.#enter('thinking', source, EMPTY_THINKING);
    if (thinking !== '') this.#sink.delta(open.index, { type: 'thinking_delta', thinking });
  }

  /**
   * Writes a signature in one piece: the SDK replaces a signature and does not join pieces
   * (docs/protocols/anthropic-messages.md#sdk-accumulator). A signature that is not on thinking is on a text.
   */
  signature({ block, signature, maker }: BlockSignature): void {
    const open = this.#open;
    if (open?.kind === 'thinking' && open.source === block) {
      this.#sink.delta(open.index, { type: 'signature_delta', signature: thinkingSignature(signature, maker) });
      return;
    }
    const envelope: Envelope = { kind: 'signature', maker: maker ?? makerOf({ type: 'text' }), of: 'text', signature };
    this.#signed = { envelope, source: block };
  }

  /** A block without the text of its thought, which the signature brings back if its maker wrote one. */
  signHidden({ block, signature, maker = OWN_MAKER }: BlockSignature, text: string): void {
    this.settle();
    const { index } = this.#enter('thinking', block, EMPTY_THINKING);
    const whole =
      text === '' ? thinkingSignature(signature, maker) : writeEnvelope({ kind: 'thinking', maker, text, signature });
    this.#sink.delta(index, { type: 'signature_delta', signature: whole });
    this.settle();
  }

  /** Writes a picture, and its signature in a block after it. */
  picture(
    picture: JsonObject,
    { block, signature, maker }: Partial<BlockSignature> & Pick<BlockSignature, 'block'>,
  ): void {
    this.whole(picture);
    if (signature === undefined) return;
    const made = maker ?? makerOf({ type: 'media' });
    this.#signPrevious({ kind: 'signature', maker: made, of: 'picture', signature }, block);
  }

  /** Before a new block: the signature that waits for one. */
  #sign(): void {
    const signed = this.#signed;
    this.#signed = undefined;
    if (signed) this.#signPrevious(signed.envelope, signed.source);
  }

  #signPrevious(envelope: Envelope, source: number): void {
    this.settle();
    const { index } = this.#enter('thinking', source, EMPTY_THINKING);
    this.#sink.delta(index, { type: 'signature_delta', signature: writeEnvelope(envelope) });
    this.settle();
  }

  whole(block: JsonObject): void {
    this.settle();
    this.#sign();
    const index = this.#next++;
    this.#sink.open(index, block);
    this.#sink.close(index);
  }

  /** A call of a tool that the provider ran: its input streams as that of a client's tool does. */
  served(block: JsonObject, json: string): void {
    this.settle();
    this.#sign();
    const index = this.#next++;
    this.#sink.open(index, { ...block, input: {} });
    if (json.trim() !== '') this.#sink.delta(index, { type: 'input_json_delta', partial_json: json });
    this.#sink.close(index);
  }

  call(call: number, block: JsonObject, custom: boolean): void {
    this.settle();
    this.#sign();
    const input = custom ? '' : undefined;
    this.#open = { kind: 'tool', source: call, index: this.#next++, start: block, input, cited: false };
  }

  arguments(text: string): void {
    const open = this.#open;
    if (open?.kind !== 'tool' || text === '') return;
    if (open.input !== undefined) {
      open.input += text;
      return;
    }
    this.flushStart();
    this.#sink.delta(open.index, { type: 'input_json_delta', partial_json: text });
  }

  /** Adds fields to the block written last (block-fields.ts). */
  fields(fields: JsonObject): void {
    const open = this.#open;
    if (fields.type === 'tool_use' && open?.start) open.start = { ...open.start, ...fields };
    else if (fields.type === 'text' && open?.kind === 'text') {
      open.cited = true;
      for (const citation of listOf(fields.citations) ?? []) this.#cite(open, citation);
    }
  }

  /** False when no text block is open to cite from. */
  cite(citation: JsonObject): boolean {
    const open = this.#open;
    if (open?.kind !== 'text') return false;
    if (!open.cited) this.#cite(open, citation);
    return true;
  }

  /** Writes the start of the open block, if it is unwritten. */
  flushStart(): void {
    const open = this.#open;
    if (!open?.start) return;
    this.#sink.open(open.index, open.start);
    open.start = undefined;
  }

  /** Closes the open block. */
  settle(): void {
    const open = this.#open;
    if (!open) return;
    this.flushStart();
    if (open.input !== undefined) {
      const partial_json = JSON.stringify({ input: open.input });
      this.#sink.delta(open.index, { type: 'input_json_delta', partial_json });
    }
    this.#sink.close(open.index);
    this.#open = undefined;
  }

  #enter(kind: 'text' | 'thinking', source: number, block: JsonObject): OpenBlock {
    const open = this.#open;
    if (open?.kind === kind && open.source === source) return open;
    this.settle();
    this.#sign();
    const index = this.#next++;
    const fresh: OpenBlock = { kind, source, index, start: block, input: undefined, cited: false };
    this.#open = fresh;
    this.flushStart();
    return fresh;
  }

  #cite(open: OpenBlock, citation: unknown): void {
    this.#sink.delta(open.index, { type: 'citations_delta', citation });
  }
}
