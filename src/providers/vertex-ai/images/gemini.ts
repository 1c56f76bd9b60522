import type { Conversation, JsonObject } from '../../../formats/conversation.ts';
import { decodeReply } from '../../../formats/gemini/decode-reply.ts';
import { encodeRequest } from '../../../formats/gemini/encode-request.ts';
import { joinLosses, LossReport } from '../../../formats/losses/losses.ts';
import { toCamel } from '../../../formats/gemini/wire.ts';
import type { CodecContext, TranslatingCodec } from '../../codec.ts';
import { asImageEvents } from '../../../formats/streams/openai-image-events.ts';
import { ImageFields } from './fields.ts';
import { decodeGeminiImages, replyContext } from './gemini-reply.ts';
import type { GeminiImageModel } from './models.ts';
import { checkResponseFormat, readRequest, reportRest, type ImagesRequest } from './request.ts';
import { compact } from '../../../formats/json/compact.ts';

/** OpenAI's own limit (wire.md A8). Each image is a call. */
const MAX_IMAGES = 10;
/** Calls for one request that are in the air at once: its share of the place's connections and quota. */
const PARALLEL_CALLS = 4;

/** Gemini models that draw, by `:generateContent`, which answers one candidate: several images are several calls (wire.md D14). */
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
        // Each call loses the same.
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

/** One seed for all calls would draw one image several times. The first call has the caller's own; where that is the last, they go down. */
const seedOf = (seed: number | undefined, call: number): number | undefined =>
  seed === undefined ? undefined : seed <= MAX_SEED && seed + call > MAX_SEED ? seed - call : seed + call;

function encodeCall(conversation: Conversation, seed: number | undefined, { model, strict, labels }: CodecContext) {
  const target = { model, host: 'vertex', strict, labels } as const;
  const sampling = seed === undefined ? {} : { seed };
  return encodeRequest({ ...conversation, sampling }, target, replyContext(model));
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

/** Imagen's words for who may be drawn, which callers of both write, in Gemini's (Vertex AI v1, ImageConfig.PersonGeneration). */
const PERSON_GENERATION = new Map([
  ['dont_allow', 'ALLOW_NONE'],
  ['allow_adult', 'ALLOW_ADULT'],
  ['allow_all', 'ALLOW_ALL'],
]);

/** What the caller wrote in Google's own object wins over what is derived from OpenAI's fields. */
function encodeImageConfig(given: JsonObject = {}, { shape, output, personGeneration }: ImagesRequest): JsonObject {
  const named = Object.fromEntries(Object.entries(given).map(([name, value]) => [toCamel(name), value]));
  const derived = compact({
    ...shape,
    personGeneration: personGeneration && (PERSON_GENERATION.get(personGeneration) ?? personGeneration),
    imageOutputOptions: Object.keys(output).length > 0 ? output : undefined,
  });
  return { ...derived, ...named };
}
