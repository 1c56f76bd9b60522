import type { GenerationEvent } from '../events.ts';
import type { ReplyContext, StreamDecoder } from '../format.ts';
import type { LossNotes } from '../losses/reply-losses.ts';
import { INTERRUPTED, GeminiReplyReader } from './decode-reply.ts';
import { chunksOf, Framing, unreadable } from './framing.ts';

export function decodeStream(reply: ReplyContext, notes?: LossNotes): StreamDecoder {
  return new GeminiStreamDecoder(reply, notes);
}

class GeminiStreamDecoder implements StreamDecoder {
  readonly #framing = new Framing();
  readonly #reader: GeminiReplyReader;
  progress = 0;
  #ended = false;

  constructor(reply: ReplyContext, notes: LossNotes | undefined) {
    this.#reader = new GeminiReplyReader(reply, notes);
  }

  push(bytes: Buffer): readonly GenerationEvent[] {
    return this.#ended ? [] : this.#guard((events) => this.#read(this.#framing.push(bytes).texts, events));
  }

  end(): readonly GenerationEvent[] {
    if (this.#ended) return [];
    return this.#guard((events) => {
      const { texts, cut } = this.#framing.end();
      this.#read(texts, events);
      if (this.#ended) return;
      this.#ended = true;
      if (cut || !this.#reader.finished) events.push({ type: 'error', failure: INTERRUPTED });
      else for (const event of this.#reader.end()) events.push(event);
    });
  }

  #read(texts: readonly string[], events: GenerationEvent[]): void {
    for (const text of texts) {
      for (const chunk of chunksOf(text)) {
        this.progress += 1;
        for (const event of this.#reader.read(chunk)) events.push(event);
        if (events.at(-1)?.type !== 'error') continue;
        this.#ended = true;
        return;
      }
    }
  }

  /** An unreadable event ends the stream. The events before it still count. */
  #guard(work: (events: GenerationEvent[]) => void): GenerationEvent[] {
    const events: GenerationEvent[] = [];
    try {
      work(events);
    } catch (error) {
      const failure = unreadable(error);
      this.#ended = true;
      events.push({ type: 'error', failure });
    }
    return events;
  }
}
