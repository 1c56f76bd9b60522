import type { PassThroughCodec } from '../codec.ts';
import { renameModel } from './embeddings.ts';
import { EventPassThrough } from './event-pass-through.ts';
import { MediaPassThrough, mediaRules } from './media-reader.ts';

/** Speech of OpenAI and compatible servers (docs/protocols/audio.md#speech): sound, or events with `stream_format: sse`. */
export const openAiSpeech: PassThroughCodec = {
  mode: 'pass-through',
  edits: renameModel,
  streams: (body) => body.value('stream_format') === 'sse',
  openReader: (model, stream, contentType) =>
    stream ? new EventPassThrough(mediaRules(), model) : new MediaPassThrough(contentType),
};
