import type { JsonObject } from '../conversation.ts';
import type { GenerationEvent } from '../events.ts';
import type { ClientContext, StreamEncoder } from '../format.ts';
import { noLosses, type LossNotes } from '../losses/reply-losses.ts';
import { PlainSink, StreamSink } from './message-sink.ts';
import { MessageWriter } from './message-writer.ts';

export function encodeReply(
  events: readonly GenerationEvent[],
  client: ClientContext,
  notes: LossNotes = noLosses(),
): JsonObject {
  const sink = new PlainSink();
  new MessageWriter(sink, client, notes).push(events);
  return sink.message;
}

export function encodeStream(client: ClientContext, notes: LossNotes = noLosses()): StreamEncoder {
  const sink = new StreamSink();
  const writer = new MessageWriter(sink, client, notes);
  return {
    push(events) {
      writer.push(events);
      return sink.take();
    },
  };
}
