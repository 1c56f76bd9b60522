import type { Conversation, JsonObject } from '../../../../formats/conversation.ts';
import { decodeReply } from '../../../../formats/gemini/decode-reply.ts';
import { encodeRequest } from '../../../../formats/gemini/encode-request.ts';
import { joinLosses, LossReport } from '../../../../formats/losses/losses.ts';
import { finish } from '../../../../formats/steps.ts';
import { toCamel } from '../../../../formats/json/field-names.ts';
import type { CodecContext, TranslatingCodec } from '../../codec.ts';
import { asImageEvents } from '../../../../formats/streams/openai-image-events.ts';
import { ImageFields } from './fields.ts';
import { decodeGeminiImages, replyContext } from './gemini-reply.ts';
import type { GeminiImageModel } from '../../../../formats/gemini/image-models.ts';
import { checkResponseFormat, readRequest, reportRest, type ImagesRequest } from './request.ts';
import { compact } from '../../../../formats/json/object.ts';

/** OpenAI's limit (docs/protocols/images.md#openai-request). Each image needs one call. */
const MAX_IMAGES = 10;
/** Maximum number of concurrent calls for one request: its share of the upstream's connections and quota. */
const PARALLEL_CALLS = 4;

/**
 * Gemini image models, by `:generateContent`, which returns one candidate: several images need several calls
 * (docs/protocols/images.md#gemini-image-models).
 */
export function geminiImagesCodec(model: GeminiImageModel): TranslatingCodec {
  return {
    mode: 'translate',
    encode(body, context) {
      const losses = new LossReport();
      const fields = new ImageFields(body);
      const request = readRequest(fields, { model, maxImages: MAX_IMAGES }, losses);
      checkResponseFormat(fields);
      const seed = fields.number('seed');
      const conversation = toConversation(fields, request, model, context);
      reportRest(fields, losses, 'a Gemini image model');
      const encoded = Array.from({ length: request.n }, (_, call) =>
        encodeCall(conversation, seedOf(seed, call), context),
      );
      return {
        calls: encoded.map((call) => call.body),
        parallel: PARALLEL_CALLS,
        // Every call has the same losses.
        losses: joinLosses(losses.list(), encoded[0]!.losses),
        check: (reply) => void decodeReply(reply, replyContext(context.model)),
        decode: (replies) => decodeGeminiImages(replies, context),
        ...(request.stream && { stream: asImageEvents }),
      };
    },
  };
}

/** `seed` is an int32 (Vertex AI v1, GenerationConfig). */
const MAX_SEED = 2 ** 31 - 1;

/** A different seed for each call: one seed would draw the same image several times. The first call has the caller's own seed; the others count up from it, or down at the maximum. */
const seedOf = (seed: number | undefined, call: number): number | undefined =>
  seed === undefined ? undefined : seed <= MAX_SEED && seed + call > MAX_SEED ? seed - call : seed + call;

function encodeCall(conversation: Conversation, seed: number | undefined, { model, strict, labels }: CodecContext) {
  const target = { model, host: 'vertex', strict, labels } as const;
  const sampling = seed === undefined ? {} : { seed };
  return finish(encodeRequest({ ...conversation, sampling }, target, replyContext(model)));
}

function toConversation(
  fields: ImageFields,
  request: ImagesRequest,
  { modalities }: GeminiImageModel,
  { model }: CodecContext,
): Conversation {
  const imageConfig = encodeImageConfig(fields.object('imageConfig'), request);
  const safetySettings = fields.list('safetySettings');
  return {
    model,
    turns: [{ role: 'user', parts: [{ type: 'text', text: request.prompt }] }],
    sampling: {},
    modalities,
    ...(Object.keys(imageConfig).length > 0 && { imageConfig }),
    ...(request.labels && { labels: request.labels }),
    ...(safetySettings && { safetySettings }),
    stream: false,
  };
}

/** Gemini's equivalents of Imagen's values for `personGeneration`, which callers use for both (Vertex AI v1, ImageConfig.PersonGeneration). */
const PERSON_GENERATION = new Map([
  ['dont_allow', 'ALLOW_NONE'],
  ['allow_adult', 'ALLOW_ADULT'],
  ['allow_all', 'ALLOW_ALL'],
]);

/** Values in the caller's `imageConfig` take precedence over values derived from OpenAI's fields. */
function encodeImageConfig(given: JsonObject = {}, { shape, output, personGeneration }: ImagesRequest): JsonObject {
  const named = Object.fromEntries(Object.entries(given).map(([name, value]) => [toCamel(name), value]));
  const derived = compact({
    ...shape,
    personGeneration: personGeneration && (PERSON_GENERATION.get(personGeneration) ?? personGeneration),
    imageOutputOptions: Object.keys(output).length > 0 ? output : undefined,
  });
  return { ...derived, ...named };
}
