import { type GenerationEvent, createSignals } from '../../../formats/events.ts';
import { ReplyFault } from '../../../formats/format.ts';
import { failureOfEvent } from '../../../formats/openai-chat/errors.ts';
import { usageEvent } from '../../../formats/openai-chat/reply-fields.ts';
import { objectOf, listOf } from '../../../formats/json/object.ts';
import { PlainPassThrough, type WholeReply } from '../../../formats/streams/plain-pass-through.ts';
import { EMBEDDING_EXTENSIONS } from '../../../formats/openai-chat/extensions.ts';
import type { PassThroughCodec } from '../codec.ts';
import { readVector, toBase64 } from '../vectors.ts';
import { EVENT_FIELDS, withoutFields } from './task-extensions.ts';

/** Writes the upstream's name of the model into the request. */
export const renameModel: PassThroughCodec['edits'] = (body, model) =>
  body.value('model') === model ? [] : [{ path: ['model'], value: model, source: 'gateway' }];

/**
 * OpenAI's API on both sides (docs/protocols/embeddings.md#openai-request): bytes pass through, except for the model's name. The
 * reply is decoded for its usage.
 */
export const openAiEmbeddings: PassThroughCodec = {
  mode: 'pass-through',
  edits: renameModel,
  clean: withoutFields(EMBEDDING_EXTENSIONS, EVENT_FIELDS),
  openReader(model, _stream, _contentType, form) {
    const signals = createSignals();
    const read = (reply: unknown): readonly GenerationEvent[] => {
      const events = readReply(reply);
      signals.content = true;
      return events;
    };
    return new PlainPassThrough(read, model, form?.encoding === 'base64' ? inBase64 : undefined, signals);
  },
};

/**
 * Some servers ignore `encoding_format` and send numbers, which OpenAI's SDKs read as bytes without an error
 * (docs/protocols/embeddings.md#base64-vectors). Other bodies keep their bytes. Throws ReplyFault.
 */
function inBase64({ bytes, body }: WholeReply): Buffer {
  const reply = objectOf(body);
  const data = listOf(reply?.data);
  if (!data?.some((entry) => Array.isArray(objectOf(entry)?.embedding))) return bytes;
  const written = data.map((entry, at) => {
    const { embedding } = objectOf(entry) ?? {};
    return Array.isArray(embedding)
      ? { ...objectOf(entry), embedding: toBase64(readVector(embedding, `the vector of data[${at}]`)) }
      : entry;
  });
  return Buffer.from(JSON.stringify({ ...reply, data: written }));
}

/** A 200 that contains an error counts as that error, as with chat completions. */
function readReply(reply: unknown): readonly GenerationEvent[] {
  const failure = failureOfEvent(undefined, reply);
  if (failure) return [{ type: 'error', failure }];
  const { data, model, usage } = Object(reply) as { data?: unknown; model?: unknown; usage?: unknown };
  if (!Array.isArray(data) || data.length === 0) throw new ReplyFault('it contains no embeddings');
  const missing = data.findIndex((entry: unknown) => !hasVector(entry));
  if (missing >= 0) throw new ReplyFault(`data[${missing}] has no embedding`);
  const counted = usageEvent(usage);
  return [
    { type: 'start', ...(typeof model === 'string' && { model }) },
    ...(counted ? [counted] : []),
    { type: 'end' },
  ];
}

/** True for a list of numbers, base64, or the objects of other servers (`{embedding: {int8: […]}}`), if not empty. */
function hasVector(entry: unknown): boolean {
  const { embedding } = Object(entry) as { embedding?: unknown };
  if (Array.isArray(embedding) || typeof embedding === 'string') return embedding.length > 0;
  return typeof embedding === 'object' && embedding !== null;
}
