import { ReplyFault } from '../../formats/faults.ts';
import type { Format } from '../../formats/format.ts';
import type { GenerationEvent } from '../../formats/events.ts';
import { parseReplyText } from '../../formats/json/rounding.ts';
import { textOf } from '../../formats/sse/stream-start.ts';
import type { CachedReply, SemanticCache } from '../../core/kernel/index.ts';
import { splitText } from './compared-text.ts';
import { embed, problemOf, type EmbedderSetup } from './embedder.ts';
import type { MemoryTextStore } from './store/text-store.ts';
import { inSameOrder, unequalFact } from './text-facts.ts';

/** The stored texts as the `cache` plugin sees them, which can also split requests and ask for vectors. */
export function createSemanticCache(store: MemoryTextStore, setup: EmbedderSetup): SemanticCache {
  return {
    split: (exchange, { body }) => splitText(exchange, body),
    texts: (place) => store.texts(place),
    unequalFact,
    inSameOrder,
    problem: (request) => problemOf(request, setup),
    embed: (request) => embed(request, setup),
    similarity: (kept, vector) => store.similarity(kept, vector),
    vectorOf: (kept) => store.vectorOf(kept),
    keepVector: (kept, vector) => store.keepVector(kept, vector),
    add: (place, text, vector) => store.add(place, text, vector),
    use: (kept) => store.use(kept),
    remove: (kept) => store.remove(kept),
    through: (send) => createSemanticCache(store, { ...setup, send }),
    isText: (reply, { operation }) => operation !== undefined && isText(reply, operation.format),
  };
}

const TEXT_EVENTS: ReadonlySet<GenerationEvent['type']> = new Set([
  'start',
  'text',
  'thinking',
  'signature',
  'redacted_thinking',
  'logprobs',
  'usage',
  'finish',
  'ping',
  'end',
]);

function isText(reply: CachedReply, format: Format): boolean {
  try {
    const events = eventsOf(reply, format);
    const finishes = events.filter((event) => event.type === 'finish');
    return (
      finishes.length > 0 &&
      finishes.every(({ reason }) => reason === 'stop') &&
      events.every(({ type }) => TEXT_EVENTS.has(type))
    );
  } catch (error) {
    if (error instanceof ReplyFault || error instanceof SyntaxError) return false;
    throw error;
  }
}

function eventsOf({ bytes, stream }: CachedReply, format: Format): readonly GenerationEvent[] {
  // These call ids are never sent.
  const context = { model: '', newCallId: () => 'call' };
  if (!stream) return format.decodeReply(parseReplyText(textOf(bytes)), context);
  const decoder = format.decodeStream(context);
  return [...decoder.push(bytes), ...decoder.end()];
}
