import { type GenerationEvent, type Usage, repeatable } from '../events.ts';
import type { ClientContext, StreamEncoder } from '../format.ts';
import { mediaKind } from '../media/media-types.ts';
import { noLosses, type LossNotes } from '../losses/reply-losses.ts';
import { ChoiceWriter, type ChunkFrame } from './choice-writer.ts';
import { losePart } from './content-blocks.ts';
import { encodeEnvelope, encodeUsage, type ReplyEnvelope } from './reply-fields.ts';
import { bytesOf, joinedBytes, toBytes } from '../json/literal.ts';
import { WrittenText } from '../json/written-text.ts';

export function encodeStream(client: ClientContext, notes: LossNotes = noLosses()): StreamEncoder {
  return new ChatStreamEncoder(client, notes);
}

/** Longest repeated head of a chunk. Longer fields are in the first chunk only: each chunk would repeat them. */
const MAX_HEAD = 4096;

/**
 * Encodes events as chunks (docs/protocols/openai-chat.md#stream). The constant part of a chunk is built once; a piece
 * of text costs one JSON.stringify and three concatenations. Finish reasons are held until the end, so that nothing can
 * follow them. An error ends the stream without a finish reason and without `[DONE]`: the caller adds the error line.
 */
class ChatStreamEncoder implements StreamEncoder {
  readonly #client: ClientContext;
  readonly #notes: LossNotes;
  /** A Map, because the upstream chooses the indexes: an array would be as long as the largest. */
  readonly #choices = new Map<number, ChoiceWriter>();
  readonly #out = new WrittenText();
  #frame: ChunkFrame | undefined;
  #usage: Usage | undefined;
  #envelope: ReplyEnvelope = {};
  #onlyOnce = '';
  #closed = false;

  constructor(client: ClientContext, notes: LossNotes) {
    this.#notes = notes;
    this.#client = client;
  }

  push(events: readonly GenerationEvent[]): string {
    for (const event of events) this.#add(event);
    return this.#out.take();
  }

  pushBytes(events: readonly GenerationEvent[]): Buffer | undefined {
    let pieces: string[] | undefined;
    for (const event of events) {
      if (this.#closed) break;
      if (event.type === 'text' && event.literals) {
        this.#flush((pieces ??= []));
        this.#choice(event.choice).literals(event, event.literals, pieces);
      } else this.#add(event);
    }
    if (pieces) this.#flush(pieces);
    return pieces ? joinedBytes(pieces) : bytesOf(this.#out.take());
  }

  #flush(pieces: string[]): void {
    const text = this.#out.take();
    if (text !== '') pieces.push(toBytes(text));
  }

  #add(event: GenerationEvent): void {
    if (this.#closed) return;
    if (event.type === 'text' && !event.spoken) this.#out.add(this.#choice(event.choice).text(event));
    else this.#out.add(this.#write(event));
  }

  #write(event: GenerationEvent): string {
    switch (event.type) {
      case 'start':
        return this.#start(event);
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'ping':
        return '';
      case 'error':
        this.#closed = true;
        return '';
      case 'end':
        this.#closed = true;
        return this.#end();
      default:
        if (this.#client.strict)
          losePart(event.type === 'media' ? { type: 'media', media: mediaKind(event.mime) } : event, this.#notes);
        return this.#choice(event.choice).write(event);
    }
  }

  /** The role is in the first chunk (docs/protocols/messages-route.md#claude-streams-to-openai-chunks). */
  #start(envelope: ReplyEnvelope): string {
    if (this.#frame) return '';
    this.#envelope = { ...envelope, id: repeatable(envelope.id), model: repeatable(envelope.model) };
    const role = this.#choice(0).role();
    return this.#onlyOnce + role;
  }

  #choice(index: number): ChoiceWriter {
    let choice = this.#choices.get(index);
    if (!choice) {
      this.#frame ??= this.#buildFrame();
      this.#choices.set(index, (choice = new ChoiceWriter(index, this.#frame, this.#client)));
    }
    return choice;
  }

  #buildFrame(): ChunkFrame {
    let head = this.#head(this.#envelope);
    if (head.length > MAX_HEAD) {
      this.#onlyOnce = `${head}]}\n\n`;
      head = this.#head({ ...this.#envelope, extras: undefined });
    }
    return {
      head,
      // Clients that requested usage get `usage: null` in every chunk but the usage chunk
      // (docs/protocols/openai-chat.md#stream-usage).
      tail: this.#client.includeUsage ? '],"usage":null}\n\n' : ']}\n\n',
    };
  }

  #head(envelope: ReplyEnvelope): string {
    const fields = JSON.stringify(encodeEnvelope(envelope, 'chat.completion.chunk', this.#client));
    return `data: ${fields.slice(0, -1)},"choices":[`;
  }

  #end(): string {
    if (this.#choices.size === 0) this.#choice(0);
    const choices = [...this.#choices].sort(([a], [b]) => a - b);
    let out = choices.map(([, choice]) => choice.finish()).join('');
    if (this.#client.includeUsage && this.#usage) {
      const usage = JSON.stringify(encodeUsage(this.#usage, this.#client.strict));
      out += `${this.#frame?.head ?? ''}],"usage":${usage}}\n\n`;
    }
    return `${out}data: [DONE]\n\n`;
  }
}
