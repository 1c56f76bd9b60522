import type { JsonObject } from '../conversation.ts';
import type { GenerationEvent } from '../events.ts';
import type { ClientContext, StreamEncoder } from '../format.ts';
import { PlainSink, StreamSink } from './message-sink.ts';
import { MessageWriter } from './message-writer.ts';

export function encodeReply(events: readonly GenerationEvent[], client: ClientContext): JsonObject {
  const sink = new PlainSink();
  new MessageWriter(sink, client).push(events);
  return sink.message;
}

export function encodeStream(client: ClientContext): StreamEncoder {
  const sink = new StreamSink();
  const writer = new MessageWriter(sink, client);
  return {
    push(events) {
      writer.push(events);
      return sink.take();
    },
  };
}
