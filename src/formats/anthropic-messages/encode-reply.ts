import type { JsonObject } from '../conversation.ts';
import type { GenerationEvent, Usage } from '../events.ts';
import type { ClientContext, StreamEncoder } from '../format.ts';
import { mediaKind } from '../media/media-types.ts';
import { makerOf } from '../maker.ts';
import { mcpBlock } from '../mcp-parts.ts';
import { lose, noLosses, type LossNotes } from '../losses/reply-losses.ts';
import { isReplyFields } from './block-fields.ts';
import { ownMcpId } from './encode-mcp.ts';
import { BlockWriter } from './block-writer.ts';
import { fromFinish, fromUsage, fromUsageDelta } from './reply-fields.ts';
import { PlainSink, StreamSink, type MessageSink } from './message-sink.ts';
import { joinSignature, ToolIds } from './tool-ids.ts';
import { redactedData } from './signatures.ts';
import { absorb, rest } from '../json/object.ts';
import { CallOrder, inOrder } from '../streams/call-order.ts';

export function encodeReply(events: readonly GenerationEvent[], client: ClientContext, notes = noLosses()): JsonObject {
  const sink = new PlainSink();
  new MessageWriter(sink, client, notes).push(new CallOrder().push(events));
  return sink.message;
}

export function encodeStream(client: ClientContext, notes: LossNotes = noLosses()): StreamEncoder {
  const sink = new StreamSink();
  const writer = new MessageWriter(sink, client, notes);
  const push = (events: readonly GenerationEvent[]): string => {
    writer.push(events);
    return sink.take();
  };
  return inOrder({ push }, client);
}

type Event<T extends GenerationEvent['type']> = Extract<GenerationEvent, { type: T }>;
type Frame = 'start' | 'usage' | 'finish' | 'refusal' | 'ping' | 'end' | 'error';
type ContentEvent = Exclude<GenerationEvent, { type: Frame }>;

/** Characters of a thought that travels in its signature. */
const MAX_HIDDEN = 256 * 1024;

/** Recorded beside the `delta` of `message_delta`, where the SDK reads it; the other late fields are inside. */
const BESIDE_DELTA = ['context_management'];

/**
 * Events → steps of a message (docs/protocols/messages-route.md#stream-synthesis). One writer serves streams and plain
 * replies, so that they cannot disagree.
 *
 * This API cannot express answers beyond the first, generated sound and video, log probabilities, and blocks of other
 * formats. They are left out, and the loss notes name each. Gemini's signature of a call travels in its id (tool-ids.ts),
 * that of a text or a picture in a thinking block (signatures.ts); both are marked, since Claude must not get them.
 */
class MessageWriter {
  readonly #sink: MessageSink;
  readonly #blocks: BlockWriter;
  readonly #client: ClientContext;
  readonly #notes: LossNotes;
  readonly #ids = new ToolIds();
  #id: string | undefined;
  #model: string | undefined;
  #usage: Usage | undefined;
  /** The provider's own usage object, if it is in this format. */
  #ownUsage: JsonObject | undefined;
  #finish: Event<'finish'> | undefined;
  #refusal = '';
  /** The last thought of a client that gets its signature alone. */
  #hidden: { readonly block: number; text: string } | undefined;
  readonly #fields: JsonObject = {};
  #announced = false;
  #started = false;
  #ended = false;

  constructor(sink: MessageSink, client: ClientContext, notes: LossNotes) {
    this.#notes = notes;
    this.#sink = sink;
    this.#blocks = new BlockWriter(sink);
    this.#client = client;
  }

  push(events: readonly GenerationEvent[]): void {
    // Usage from the same batch as the start goes into `message_start`, even if it comes after content.
    if (!this.#started) this.#readUsage(events.findLast((event) => event.type === 'usage'));
    for (const event of events) {
      if (this.#ended) return;
      if (!('choice' in event) || event.choice === 0) this.#event(event);
      else lose(this.#notes, 'choices');
    }
    if (this.#ended) return;
    if (this.#announced) this.#start();
    this.#blocks.flushStart();
  }

  #event(event: GenerationEvent): void {
    switch (event.type) {
      case 'start':
        if (!this.#client.ownId) this.#id = event.id ?? this.#id;
        this.#model = event.model ?? this.#model;
        this.#announced = true;
        return;
      case 'usage':
        return this.#readUsage(event);
      case 'finish':
        this.#finish = event;
        return;
      case 'refusal':
        this.#refusal += event.text;
        return;
      case 'ping':
        if (this.#started) this.#sink.ping();
        return;
      case 'end':
        return this.#end();
      case 'error':
        // The caller writes the error event: nothing may follow it, and no `message_stop` (docs/protocols/messages-route.md#error-event).
        this.#ended = true;
        return;
      default:
        this.#start();
        return this.#content(event);
    }
  }

  #readUsage(event: Event<'usage'> | undefined): void {
    if (!event) return;
    this.#usage = event.usage;
    this.#ownUsage = event.format === 'anthropic-messages' ? event.raw : undefined;
  }

  #content(event: ContentEvent): void {
    const blocks = this.#blocks;
    switch (event.type) {
      case 'text':
        if (event.text !== '') blocks.text(event.block, event.text);
        return;
      case 'thinking':
        return this.#thinking(event);
      case 'signature':
        return this.#signature(event);
      case 'redacted_thinking':
        return blocks.whole({ type: 'redacted_thinking', data: redactedData(event.data, event.maker) });
      case 'tool_call': {
        const id = joinSignature(this.#ids.wire(event.id), this.#callSignature(event));
        const block = { type: 'tool_use', id, name: event.name, input: {}, caller: { type: 'direct' } };
        return blocks.call(event.call, block, event.custom ?? false);
      }
      case 'tool_arguments':
        return blocks.arguments(event.text);
      case 'code':
        return blocks.text(event.block, `\`\`\`${event.language.toLowerCase()}\n${event.code}\n\`\`\`\n`);
      case 'code_result':
        return blocks.text(event.block, `\`\`\`\n${event.output}\n\`\`\`\n`);
      case 'mcp_call':
        return blocks.served(mcpBlock({ ...event, id: ownMcpId(event.id) }), event.arguments);
      case 'mcp_result': {
        const { callId, isError = false } = event;
        return blocks.whole(mcpBlock({ ...event, callId: ownMcpId(callId), isError }));
      }
      case 'opaque':
        return this.#opaque(event);
      case 'citation': {
        // The cited text is unknown here, and so is the index by which Claude finds it again.
        const { url, title = null } = event.citation;
        const type = 'web_search_result_location';
        const cited = blocks.cite({ type, url, title, cited_text: '', encrypted_index: '' });
        return cited ? undefined : lose(this.#notes, 'citations');
      }
      case 'media':
        return this.#media(event);
      case 'logprobs':
        return lose(this.#notes, 'logprobs');
    }
  }

  #thinking({ block, text }: Event<'thinking'>): void {
    if (!this.#client.hideThoughts) return this.#blocks.thinking(block, text);
    if (!this.#client.signsHidden) return;
    if (this.#hidden?.block !== block) this.#hidden = { block, text };
    else if (this.#hidden.text.length < MAX_HIDDEN) this.#hidden.text += text;
  }

  #signature(event: Event<'signature'>): void {
    const hidden = this.#hidden;
    if (this.#client.hideThoughts && !this.#client.signsHidden) return;
    if (hidden?.block !== event.block) return this.#blocks.signature(event);
    // Without its whole text a signature is not valid.
    if (hidden.text.length < MAX_HIDDEN) this.#blocks.signHidden(event, hidden.text);
  }

  /** Claude generates no images: they are sent as the blocks in which the API accepts them. */
  #media(event: Event<'media'>): void {
    const { mime, data } = event;
    const kind = mediaKind(mime);
    if (kind !== 'image') return lose(this.#notes, kind);
    // The signature is written even when thoughts are hidden: Gemini's image models refuse to continue from an image
    // that has lost its signature.
    this.#blocks.picture({ type: 'image', source: { type: 'base64', media_type: mime, data } }, event);
  }

  /** An id shows no maker. */
  #callSignature(event: Event<'tool_call'>): string | undefined {
    if (event.signature === undefined || makerOf(event) === 'gemini') return event.signature;
    lose(this.#notes, 'signatures');
    return undefined;
  }

  #opaque({ format, value, attached }: Event<'opaque'>): void {
    if (format !== 'anthropic-messages') {
      // No loss: metadata on the whole answer (grounding, which has no type) repeats its citations, thoughts were not
      // requested, and the list of an MCP server's tools is no part of the answer.
      if (typeof value.type === 'string' && value.type !== 'thinking' && value.type !== 'mcp_list_tools')
        lose(this.#notes, 'content_blocks');
      return;
    }
    if (isReplyFields(value)) absorb(this.#fields, value);
    else if (attached) this.#blocks.fields(value);
    else this.#blocks.whole(value);
  }

  #start(): void {
    if (this.#started) return;
    this.#started = true;
    this.#sink.start({
      id: this.#id ?? this.#client.id,
      type: 'message',
      role: 'assistant',
      model: this.#model ?? this.#client.model,
      content: [],
      container: null,
      diagnostics: null,
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage: fromUsage(this.#usage, this.#ownUsage),
    });
  }

  #end(): void {
    this.#start();
    this.#ended = true;
    this.#blocks.settle();
    if (this.#blocks.unsigned) lose(this.#notes, 'signatures');
    // Clients expect some content (docs/protocols/messages-route.md#empty-reply).
    if (this.#blocks.empty) {
      this.#blocks.text(0, '');
      this.#blocks.settle();
    }
    const ending = {
      stop_reason: this.#stopReason(),
      stop_sequence: this.#finish?.stopSequence ?? null,
      stop_details: this.#stopDetails(),
      container: null,
    };
    const delta = rest(this.#fields, ['stop_details', ...BESIDE_DELTA], ending) ?? ending;
    const beside: JsonObject = {};
    for (const key of BESIDE_DELTA) if (Object.hasOwn(this.#fields, key)) beside[key] = this.#fields[key];
    this.#sink.finish({ delta, beside, usage: fromUsageDelta(this.#usage, this.#ownUsage) });
  }

  /** OpenAI reports a refusal together with an ordinary stop. */
  #stopReason(): string {
    const { reason, native } = this.#finish ?? {};
    return this.#refusal !== '' && reason === 'stop' ? 'refusal' : fromFinish(reason, native);
  }

  #stopDetails(): unknown {
    const own = this.#fields.stop_details;
    const explanation = this.#finish?.message ?? this.#refusal;
    if (own !== undefined || this.#stopReason() !== 'refusal') return own ?? null;
    return { type: 'refusal', category: null, explanation: explanation === '' ? null : explanation };
  }
}
