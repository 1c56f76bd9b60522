import type { PassThroughCodec } from '../codec.ts';
import { renameModel } from './embeddings.ts';
import { EventPassThrough } from './event-pass-through.ts';
import { MediaPassThrough, mediaRules } from './media-reader.ts';
import { streamsByField } from './task-extensions.ts';

/** Transcriptions and translations: the reply is JSON, text, subtitles or events, as `response_format` and `stream` request. */
export const openAiTranscriptions: PassThroughCodec = {
  mode: 'pass-through',
  edits: renameModel,
  streams: streamsByField,
  openReader: (model, stream, contentType) =>
    stream ? new EventPassThrough(mediaRules(), model) : new MediaPassThrough(contentType),
};
