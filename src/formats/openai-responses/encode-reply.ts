import { writeEnvelope } from '../envelope.ts';
import type { EventOf, GenerationEvent, Usage } from '../events.ts';
import type { ClientContext, EchoedTool, StreamEncoder } from '../format.ts';
import { objectOf, stringOf } from '../json/object.ts';
import { lose, noLosses, type LossNotes } from '../losses/reply-losses.ts';
import { isOpenAi, makerOf, type Maker } from '../maker.ts';
import { mediaKind } from '../media/media-types.ts';
import { CallOrder, inOrder } from '../streams/call-order.ts';
import { compactionItem } from './compaction-item.ts';
import { ItemWriter } from './item-writer.ts';
import { encodeUsage, ResponseText, type Status } from './response-object.ts';
import { ResponseEvents } from './response-events.ts';
import { ServedItems } from './served-items.ts';

export function encodeReply(events: readonly GenerationEvent[], client: ClientContext, notes = noLosses()): Buffer {
  const writer = new ResponseWriter(undefined, client, notes);
  writer.push(new CallOrder().push(events));
  return Buffer.from(writer.response, 'latin1');
}

export function encodeStream(client: ClientContext, notes: LossNotes = noLosses()): StreamEncoder {
  const stream = new ResponseEvents();
  const writer = new ResponseWriter(stream, client, notes);
  const encoder: StreamEncoder = {
    push(events) {
      writer.push(events);
      return stream.take();
    },
    pushBytes(events) {
      writer.push(events);
      return stream.takeBytes();
    },
  };
  return inOrder(encoder, client);
}

type AnswerEvent = Exclude<GenerationEvent, { type: 'start' | 'usage' | 'finish' | 'ping' | 'end' | 'error' }>;

/**
 * Events → items of a response (docs/protocols/openai-responses.md#stream). One writer serves streams and plain replies, so that they
 * cannot disagree.
 *
 * Signatures of all makers are in `encrypted_content`: OpenAI's as it is, any other in an envelope that names its maker.
 */
class ResponseWriter {
  /** The response as JSON with one character per byte, once it has ended. */
  response = '{}';
  readonly #stream: ResponseEvents | undefined;
  readonly #client: ClientContext;
  readonly #notes: LossNotes;
  readonly #items: ItemWriter;
  /** Undefined while the answer has no item of a tool that the provider ran. */
  #served: ServedItems | undefined;
  #model: string | undefined;
  #usage: Usage | undefined;
  #finish: EventOf<'finish'> | undefined;
  /** The signature of a text, which follows it. */
  #textSignature: string | undefined;
  /** Code that ran and whose output has not come yet. */
  #code: EventOf<'code'> | undefined;
  #response: ResponseText | undefined;
  /** The text so far of an answer that is a summary. */
  #summary = '';
  #started = false;
  #ended = false;

  /** @param stream undefined for a plain reply, which is the response of the last event */
  constructor(stream: ResponseEvents | undefined, client: ClientContext, notes: LossNotes) {
    this.#stream = stream;
    this.#client = client;
    this.#notes = notes;
    this.#items = new ItemWriter(stream, client.id, client.hideThoughts !== true);
  }

  push(events: readonly GenerationEvent[]): void {
    for (const event of events) {
      if (this.#ended) return;
      if (!('choice' in event) || event.choice === 0) this.#event(event);
      else lose(this.#notes, 'choices');
    }
  }

  #event(event: GenerationEvent): void {
    switch (event.type) {
      case 'start':
        this.#model = event.model ?? this.#model;
        return this.#start();
      case 'usage':
        this.#usage = event.usage;
        return;
      case 'finish':
        this.#finish = event;
        return;
      case 'ping':
        return;
      case 'end':
        return this.#end();
      case 'error':
        // The caller writes the event of the failure: nothing may follow it.
        this.#ended = true;
        return;
      default:
        this.#start();
        if (!this.#client.echo?.summarizes) return this.#content(event);
        if (event.type === 'text') this.#summary += event.text;
        // A reply that the cache kept has the item.
        else if (event.type === 'opaque') this.#opaque(event);
    }
  }

  #content(event: AnswerEvent): void {
    if (this.#code && event.type !== 'code_result') this.#endCode(undefined);
    if (this.#textSignature !== undefined && event.type !== 'text' && event.type !== 'citation') this.#signText();
    const items = this.#items;
    switch (event.type) {
      case 'text':
        return event.literals
          ? items.literal(joined(event.literals), event.phase)
          : items.text(event.text, event.phase);
      case 'refusal':
        return items.refusal(event.text);
      case 'thinking':
        return items.thinking(event.block, event.text);
      case 'signature':
        return this.#sign(event);
      case 'tool_call':
        this.#signatureOf(event, 'call');
        return items.call(event.id, this.#tool(event));
      case 'tool_arguments':
        return items.arguments(event.text);
      case 'citation':
        if (!items.cite(event.citation)) lose(this.#notes, 'citations');
        return;
      case 'logprobs':
        if (event.refusal || !items.logprobs(event.tokens)) lose(this.#notes, 'logprobs');
        return;
      default:
        return this.#whole(event);
    }
  }

  /** Events that become an item each, or with another one. */
  #whole(
    event: EventOf<'redacted_thinking' | 'media' | 'code' | 'code_result' | 'mcp_call' | 'mcp_result' | 'opaque'>,
  ): void {
    switch (event.type) {
      case 'mcp_call':
        return this.#servedItems().mcpCall(event);
      case 'mcp_result':
        if (!this.#servedItems().mcpResult(event)) lose(this.#notes, 'content_blocks');
        return;
      case 'redacted_thinking': {
        const { data, maker = 'claude' } = event;
        return this.#items.encrypted(isOpenAi(maker) ? data : writeEnvelope({ kind: 'redacted', maker, data }));
      }
      case 'media':
        return this.#media(event);
      case 'code':
        this.#code = event;
        return;
      case 'code_result':
        return this.#endCode(event.output);
      case 'opaque':
        return this.#opaque(event);
    }
  }

  #tool({ name, namespace, custom }: EventOf<'tool_call'>): EchoedTool {
    const known = this.#client.echo?.tools.get(name);
    if (known && namespace === undefined) return known;
    return { name, kind: custom ? 'custom' : 'function', ...(namespace !== undefined && { namespace }) };
  }

  #sign(event: EventOf<'signature'>): void {
    const { block, signature } = event;
    const maker = event.maker;
    const isThought = this.#items.sign(block, (text) => thoughtOf(signature, maker ?? 'claude', text));
    if (!isThought)
      this.#textSignature = signatureItem(signature, makerOf({ type: 'text', ...(maker && { maker }) }), 'text');
  }

  #signText(): void {
    const encrypted = this.#textSignature;
    this.#textSignature = undefined;
    if (encrypted !== undefined) this.#items.encrypted(encrypted);
  }

  #signatureOf(event: EventOf<'tool_call' | 'media'>, of: 'call' | 'picture'): void {
    if (event.signature === undefined) return;
    this.#items.encrypted(signatureItem(event.signature, makerOf(event), of));
  }

  #media(event: EventOf<'media'>): void {
    const kind = mediaKind(event.mime);
    if (kind !== 'image') return lose(this.#notes, kind);
    this.#signatureOf(event, 'picture');
    const [, output_format = 'png'] = event.mime.split('/');
    this.#servedItems().picture({
      type: 'image_generation_call',
      status: 'completed',
      output_format,
      result: event.data,
    });
  }

  /** Clients demand all fields of the item, even of one whose output never came. */
  #endCode(output: string | undefined): void {
    const code = this.#code?.code ?? '';
    const container_id = this.#code?.id ?? this.#client.id.replace(/^resp_/, 'cntr_');
    this.#code = undefined;
    const outputs = output === undefined ? [] : [{ type: 'logs', logs: output }];
    this.#items.whole({ type: 'code_interpreter_call', status: 'completed', code, container_id, outputs });
  }

  #opaque({ format, value, attached }: EventOf<'opaque'>): void {
    if (format === 'openai-responses') return this.#items.whole(value);
    if (attached) return;
    if (value.type === 'server_tool_use' && value.name === 'web_search') {
      const query = stringOf(objectOf(value.input)?.query) ?? '';
      return this.#items.whole({ type: 'web_search_call', status: 'completed', action: { type: 'search', query } });
    }
    // The results of a search are in the citations of the text after it.
    if (value.type === 'web_search_tool_result') return;
    // The list of a server's tools is no part of the answer.
    if (value.type === 'mcp_tool_listing') return;
    if (typeof value.type === 'string' && value.type !== 'thinking') lose(this.#notes, 'content_blocks');
  }

  #servedItems(): ServedItems {
    return (this.#served ??= new ServedItems(this.#stream, this.#items));
  }

  #start(): void {
    if (this.#started) return;
    this.#started = true;
    this.#stream?.begin(this.#written('in_progress'));
  }

  #end(): void {
    this.#start();
    this.#ended = true;
    if (this.#code) this.#endCode(undefined);
    this.#served?.end();
    if (this.#client.echo?.summarizes && this.#items.isEmpty)
      this.#items.whole(compactionItem(this.#summary, this.#client));
    const { reason, message } = this.#finish ?? {};
    if (reason === 'content_filter' && message !== undefined && this.#items.isEmpty) this.#items.refusal(message);
    const incomplete =
      reason === 'length' ? 'max_output_tokens' : reason === 'content_filter' ? 'content_filter' : undefined;
    this.#items.close(incomplete === undefined ? 'completed' : 'incomplete');
    this.#signText();
    const status = incomplete === undefined ? 'completed' : 'incomplete';
    this.response = this.#written(status, incomplete);
    this.#stream?.end(status, this.response);
  }

  #written(status: Status, incomplete?: string): string {
    const isOver = status !== 'in_progress';
    const usage = isOver ? encodeUsage(this.#usage ?? { input: 0, output: 0, total: 0 }) : undefined;
    const model = this.#model ?? this.#client.model;
    this.#response ??= this.#responseText();
    return this.#response.of({ status, model, usage, incomplete }, isOver ? this.#items.output.join(',') : '');
  }

  #responseText(): ResponseText {
    const { id, created, echo, stored, continues } = this.#client;
    const fields = echo?.fields ?? {};
    const echoed = continues === undefined ? fields : { ...fields, previous_response_id: continues };
    return new ResponseText({ id, created, echoed, stored });
  }
}

const joined = (literals: readonly string[]): string => (literals.length === 1 ? literals[0]! : literals.join(''));

function thoughtOf(signature: string, maker: Maker, text: string): string {
  return isOpenAi(maker) ? signature : writeEnvelope({ kind: 'thinking', maker, signature, text });
}

function signatureItem(signature: string, maker: Maker, of: 'call' | 'text' | 'picture'): string {
  return writeEnvelope({ kind: 'signature', maker, signature, of });
}
