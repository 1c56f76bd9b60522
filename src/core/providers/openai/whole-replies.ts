import { type GenerationEvent, createSignals } from '../../../formats/events.ts';
import { ReplyFault } from '../../../formats/faults.ts';
import { failureOfEvent } from '../../../formats/openai-chat/errors.ts';
import { usageEvent } from '../../../formats/openai-chat/reply-fields.ts';
import { objectOf, isObject, listOf } from '../../../formats/json/object.ts';
import { PlainPassThrough, type WholeReply } from '../../../formats/streams/plain-pass-through.ts';
import { EMBEDDING_EXTENSIONS } from '../../../formats/openai-chat/extensions.ts';
import type { PassThroughCodec } from '../codec.ts';
import { readVector, toBase64 } from '../../../formats/vectors.ts';
import { EVENT_FIELDS, renameModel, withoutFields } from './task-fields.ts';

/** A reply that is read once it is complete, and is content as a whole. */
function openWhole(
  decode: (reply: unknown) => readonly GenerationEvent[],
  model: string,
  write?: (reply: WholeReply) => Buffer,
): PlainPassThrough {
  const signals = createSignals();
  const read = (reply: unknown): readonly GenerationEvent[] => {
    const events = decode(reply);
    signals.content = true;
    return events;
  };
  return new PlainPassThrough(read, model, write, signals);
}

/** OpenAI's API on both sides (docs/protocols/embeddings.md#openai-request): bytes pass through, except for the model's name. */
export const openAiEmbeddings: PassThroughCodec = {
  mode: 'pass-through',
  edits: renameModel,
  clean: withoutFields(EMBEDDING_EXTENSIONS, EVENT_FIELDS),
  openReader: (model, _stream, _contentType, form) =>
    openWhole(decodeEmbeddings, model, form?.encoding === 'base64' ? inBase64 : undefined),
};

export const openAiModerations: PassThroughCodec = {
  mode: 'pass-through',
  edits: renameModel,
  clean: withoutFields([], EVENT_FIELDS),
  openReader: (model) => openWhole(decodeModeration, model),
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
function decodeEmbeddings(reply: unknown): readonly GenerationEvent[] {
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

/** A reply without a result would look like "nothing to object to". */
function decodeModeration(body: unknown): readonly GenerationEvent[] {
  const failure = failureOfEvent(undefined, body);
  if (failure) return [{ type: 'error', failure }];
  if (!isObject(body) || !Array.isArray(body.results) || body.results.length === 0)
    throw new ReplyFault('it contains no results');
  return [{ type: 'start', ...(typeof body.model === 'string' && { model: body.model }) }, { type: 'end' }];
}
