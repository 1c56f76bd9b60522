import type { GenerationEvent, Usage } from '../events.ts';
import type { ClientContext, StreamEncoder } from '../format.ts';
import { ChoiceWriter, type ChunkFrame } from './choice-writer.ts';
import { encodeEnvelope, type Envelope } from './envelope.ts';
import { encodeUsage } from './usage.ts';

export function encodeStream(client: ClientContext): StreamEncoder {
  return new ChatStreamEncoder(client);
}

/**
 * Events → chunks (wire.md A6). Everything of a chunk that does not change is built once; a piece of text costs one JSON.stringify and
 * three concatenations. Finish reasons are held until the end, so that nothing can follow them; an error ends the stream
 * without finish and without `[DONE]`: the caller adds the error line.
 */
class ChatStreamEncoder implements StreamEncoder {
  readonly #client: ClientContext;
  /** A map: the index is the upstream's, and a list would be as long as the largest. */
  readonly #choices = new Map<number, ChoiceWriter>();
  #frame: ChunkFrame | undefined;
  #usage: Usage | undefined;
  #envelope: Envelope = {};
  #closed = false;

  constructor(client: ClientContext) {
    this.#client = client;
  }

  push(events: readonly GenerationEvent[]): string {
    let out = '';
    for (const event of events) {
      if (this.#closed) return out;
      if (event.type === 'text' && !event.spoken) out += this.#choice(event.choice).text(event.text, event.block);
      else out += this.#write(event);
    }
    return out;
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
        return this.#choice(event.choice).write(event);
    }
  }

  /** The role chunk leaves with the first sign of life (wire.md, Claude SSE → OpenAI chunks). */
  #start(envelope: Envelope): string {
    if (this.#frame) return '';
    this.#envelope = envelope;
    return this.#choice(0).role();
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
    const head = JSON.stringify(encodeEnvelope(this.#envelope, 'chat.completion.chunk', this.#client)).slice(0, -1);
    return {
      head: `data: ${head},"choices":[`,
      // Every chunk but the usage chunk says null, and only to clients that asked for usage (wire.md A6).
      tail: this.#client.includeUsage ? '],"usage":null}\n\n' : ']}\n\n',
    };
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
