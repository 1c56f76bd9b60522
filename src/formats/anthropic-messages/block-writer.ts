import type { JsonObject } from '../conversation.ts';
import { CallQueue, GrowingArguments, type WaitingCall } from './call-queue.ts';
import { writeEnvelope, type Envelope } from '../envelope.ts';
import { makerOf, type Maker } from '../maker.ts';
import { OWN_MAKER, thinkingSignature } from './signatures.ts';
import { EMPTY_TEXT, EMPTY_THINKING, type MessageSink } from './message-sink.ts';
import { listOf } from '../json/read.ts';

interface OpenBlock {
  readonly kind: 'text' | 'thinking' | 'tool';
  readonly index: number;
  /** Number of the upstream's block or of the call. */
  readonly source: number;
  /** Set while the start of the block is unwritten: further fields of a call's block may follow directly. */
  start: JsonObject | undefined;
  readonly arguments: GrowingArguments;
  readonly custom: boolean;
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

/** Shared by all blocks that are not calls; nothing is ever added to it. */
const NO_ARGUMENTS = new GrowingArguments();

/**
 * Keeps the order of blocks (docs/protocols/anthropic-messages.md#block-order): indices count up, one block is open at a time, and each
 * is closed before the next.
 */
export class BlockWriter {
  readonly #sink: MessageSink;
  readonly #queue = new CallQueue();
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
    const waiting: WaitingCall = { call, block, custom, arguments: '' };
    const open = this.#open;
    const busy = open?.kind === 'tool' && (this.#queue.last !== undefined || open.custom || !open.arguments.whole);
    if (busy) return this.#queue.add(waiting);
    this.#close();
    this.#sign();
    this.#openCall(waiting);
  }

  arguments(call: number, text: string): void {
    if (this.#queue.feed(call, text)) return;
    this.#addArguments(call, text);
    if (text !== '' && this.#open?.source === call) while (this.#queue.last && this.#isWholeCall()) this.#openNext();
  }

  /** Adds fields to the block written last (block-fields.ts). */
  fields(fields: JsonObject): void {
    const open = this.#open;
    const call = this.#queue.last;
    if (fields.type === 'tool_use' && call) call.block = { ...call.block, ...fields };
    else if (fields.type === 'tool_use' && open?.start) open.start = { ...open.start, ...fields };
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

  /** Closes the open block and writes a block for every waiting call. */
  settle(): void {
    this.#close();
    while (this.#queue.last !== undefined) this.#openNext();
    this.#close();
  }

  #enter(kind: 'text' | 'thinking', source: number, block: JsonObject): OpenBlock {
    const open = this.#open;
    if (open?.kind === kind && open.source === source) return open;
    this.settle();
    this.#sign();
    const fresh: OpenBlock = {
      kind,
      source,
      index: this.#next++,
      start: block,
      arguments: NO_ARGUMENTS,
      custom: false,
      cited: false,
    };
    this.#open = fresh;
    this.flushStart();
    return fresh;
  }

  #openCall({ call, block, custom }: WaitingCall): void {
    const index = this.#next++;
    const waited = new GrowingArguments();
    this.#open = { kind: 'tool', source: call, index, start: block, arguments: waited, custom, cited: false };
  }

  #openNext(): void {
    const waiting = this.#queue.next();
    if (!waiting) return;
    this.#close();
    this.#openCall(waiting);
    this.#addArguments(waiting.call, waiting.arguments);
  }

  #addArguments(call: number, text: string): void {
    const open = this.#open;
    if (open?.kind !== 'tool' || open.source !== call || text === '') return;
    open.arguments.add(text);
    if (open.custom) return;
    this.flushStart();
    this.#sink.delta(open.index, { type: 'input_json_delta', partial_json: text });
  }

  /** A complete object cannot grow; free text always can. */
  #isWholeCall(): boolean {
    const open = this.#open;
    return open?.kind === 'tool' && !open.custom && open.arguments.whole;
  }

  #close(): void {
    const open = this.#open;
    if (!open) return;
    this.flushStart();
    if (open.custom) {
      const partial_json = JSON.stringify({ input: open.arguments.text });
      this.#sink.delta(open.index, { type: 'input_json_delta', partial_json });
    }
    this.#sink.close(open.index);
    this.#open = undefined;
  }

  #cite(open: OpenBlock, citation: unknown): void {
    this.#sink.delta(open.index, { type: 'citations_delta', citation });
  }
}
