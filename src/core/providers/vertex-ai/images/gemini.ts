import type { Conversation, JsonObject } from '../../../../formats/conversation.ts';
import { decodeReply } from '../../../../formats/gemini/decode-reply.ts';
import { encodeRequest } from '../../../../formats/gemini/encode-request.ts';
import { joinLosses, LossReport } from '../../../../formats/losses/losses.ts';
import { finish } from '../../../../formats/steps.ts';
import { toCamel } from '../../../../formats/json/field-names.ts';
import type { CodecContext, TranslatingCodec, TaskReply } from '../../codec.ts';
import { asImageEvents } from '../../../../formats/streams/openai-image-events.ts';
import { readArray, readNumber, readObject } from '../../../../formats/openai-chat/read.ts';
import { ImageFields, checkResponseFormat, readRequest, reportRest, type ImagesRequest } from './request.ts';
import type { GeminiImageModel } from '../../../../formats/gemini/image-models.ts';
import { compact } from '../../../../formats/json/object.ts';
import { type GenerationEvent, type UpstreamFailure, repeatable, type Usage } from '../../../../formats/events.ts';
import type { ReplyContext } from '../../../../formats/format.ts';
import { addUsages } from '../../usage-sum.ts';
import { contentPolicyViolation, imagesReply, sentences, type Image } from './reply.ts';
import { countOf } from '../../../../formats/counts.ts';
import { objectsOf } from '../../../../formats/gemini/wire.ts';

/** OpenAI's limit (docs/protocols/images.md#openai-request). Each image needs one call. */
const MAX_IMAGES = 10;
/** Maximum number of concurrent calls for one request: its share of the upstream's connections and quota. */
const PARALLEL_CALLS = 4;

/** By `:generateContent`, which returns one candidate (docs/protocols/images.md#gemini-image-models). */
export function geminiImagesCodec(model: GeminiImageModel): TranslatingCodec {
  return {
    mode: 'translate',
    encode(body, context) {
      const losses = new LossReport();
      const fields = new ImageFields(body);
      const request = readRequest(fields, { model, maxImages: MAX_IMAGES }, losses);
      checkResponseFormat(fields);
      const seed = fields.read(readNumber, 'seed');
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
  const imageConfig = encodeImageConfig(fields.read(readObject, 'imageConfig'), request);
  const safetySettings = fields.read(readArray, 'safetySettings');
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

/** Image models do not call functions, so the call id is never used. */
export const replyContext = (model: string): ReplyContext => ({ model, newCallId: () => 'call' });

interface Outcome {
  readonly images: readonly Image[];
  readonly failure: UpstreamFailure | undefined;
  readonly reason: string | undefined;
}

/** Replies of generateContent → OpenAI's images. Calls without an image are reported beside the others' images; without any image it is an error. */
export function decodeGeminiImages(replies: readonly unknown[], context: CodecContext): TaskReply {
  const events = replies.map((reply) => decodeReply(reply, replyContext(context.model)));
  const outcomes = events.map(readOutcome);
  const images = outcomes.flatMap((outcome) => outcome.images);
  const without = outcomes.filter((outcome) => outcome.images.length === 0);
  const reasons = sentences(without.flatMap(({ reason }) => reason ?? []));
  if (images.length === 0) return { ok: false, failure: joinFailures(without, reasons) };
  const model = events.flat().find((event) => event.type === 'start')?.model ?? context.model;
  return imagesReply({ images, missing: without.length, reasons }, { ...context, model }, usageOf(events));
}

/** Returns the first failure. A failure of the filter gets the reasons of all calls. */
function joinFailures(outcomes: readonly Outcome[], reasons: readonly string[]): UpstreamFailure {
  const failure = outcomes[0]?.failure ?? contentPolicyViolation([]);
  return failure.code === 'content_policy_violation' ? contentPolicyViolation(reasons, failure.kind) : failure;
}

function readOutcome(events: readonly GenerationEvent[]): Outcome {
  const text = events.flatMap((event) => (event.type === 'text' ? event.text : [])).join('');
  const pictures = events.filter((event) => event.type === 'media' && event.mime.startsWith('image/'));
  // A long text is added to the first image only: a copy for each image would multiply the size of the reply.
  const images = pictures.flatMap((event, at): Image[] => {
    const beside = at === 0 ? text : repeatable(text);
    return event.type === 'media' ? [{ data: event.data, mime: event.mime, ...(beside && { text: beside }) }] : [];
  });
  if (images.length > 0) return { images, failure: undefined, reason: undefined };
  const error = events.find((event) => event.type === 'error');
  if (error) return { images, failure: error.failure, reason: error.failure.message };
  return {
    images,
    ...explain(
      events.find((event) => event.type === 'finish'),
      text,
    ),
  };
}

type Finish = Extract<GenerationEvent, { type: 'finish' }>;

/** `IMAGE_SAFETY`, `IMAGE_OTHER`, `NO_IMAGE`: the model did not deliver the picture (docs/protocols/gemini.md#image-finish-reasons). */
const NO_PICTURE = /^(?:NO_)?IMAGE/;

/** Enough for most texts that a model returns instead of an image. */
const MAX_TEXT = 500;

/** A refusal by the filter is the caller's error. Any other end is the upstream's: a retry may return an image. */
function explain(finish: Finish | undefined, text: string): Pick<Outcome, 'failure' | 'reason'> {
  const word = finish?.native;
  const details = [finish?.message, text].filter(Boolean).join(' ').slice(0, MAX_TEXT).toWellFormed();
  const reason = [word, details].filter(Boolean).join(': ');
  if (finish?.reason === 'content_filter' || (word !== undefined && NO_PICTURE.test(word)))
    return { failure: contentPolicyViolation(sentences([reason]), word), reason };
  const message = `The model answered without an image (${word ?? 'no finish reason'})${details && `: ${details}`}`;
  return { failure: { status: 502, kind: word ?? 'NO_IMAGE', message }, reason: message };
}

interface CountedCall {
  readonly usage: Usage;
  /** Image tokens of the prompt and of the answer; undefined where the reply has no breakdown. */
  readonly inputImages: number;
  readonly outputImages: number | undefined;
}

/** The tokens of all calls together (docs/protocols/images.md#summed-usage, docs/protocols/images.md#image-usage). */
function usageOf(calls: readonly (readonly GenerationEvent[])[]): { usage: Usage; raw: JsonObject } | undefined {
  const counted = calls.flatMap((events) => countCall(events) ?? []);
  if (counted.length === 0) return undefined;
  const usage = addUsages(counted.map((call) => call.usage));
  const inputImages = sum(counted.map((call) => call.inputImages));
  const outputImages = sumReported(counted.map((call) => call.outputImages));
  return {
    usage,
    raw: compact({
      input_tokens: usage.input,
      output_tokens: usage.output,
      total_tokens: usage.total,
      input_tokens_details: { text_tokens: usage.input - inputImages, image_tokens: inputImages },
      output_tokens_details:
        outputImages === undefined
          ? undefined
          : { text_tokens: usage.output - outputImages, image_tokens: outputImages },
    }),
  };
}

function countCall(events: readonly GenerationEvent[]): CountedCall | undefined {
  const event = events.findLast((one) => one.type === 'usage');
  if (!event) return undefined;
  const { promptTokensDetails, candidatesTokensDetails } = event.raw ?? {};
  return {
    usage: event.usage,
    inputImages: imagesIn(promptTokensDetails) ?? 0,
    outputImages: imagesIn(candidatesTokensDetails),
  };
}

/** Undefined without a breakdown. */
function imagesIn(details: unknown): number | undefined {
  const entries = objectsOf(details);
  if (entries.length === 0) return undefined;
  return sum(
    entries.filter((entry) => entry['modality'] === 'IMAGE').map((entry) => countOf(entry['tokenCount']) ?? 0),
  );
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

function sumReported(numbers: readonly (number | undefined)[]): number | undefined {
  const reported = numbers.filter((number) => number !== undefined);
  return reported.length > 0 ? sum(reported) : undefined;
}
