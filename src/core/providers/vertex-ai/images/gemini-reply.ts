import { type GenerationEvent, type UpstreamFailure, repeatable, type Usage } from '../../../../formats/events.ts';
import type { ReplyContext } from '../../../../formats/format.ts';
import { decodeReply } from '../../../../formats/gemini/decode-reply.ts';
import { addUsages } from '../../../../formats/usage-sum.ts';
import type { CodecContext, TaskReply } from '../../codec.ts';
import { contentPolicyViolation, imagesReply, sentences, type Image } from './reply.ts';
import type { JsonObject } from '../../../../formats/conversation.ts';
import { countOf } from '../../../../formats/counts.ts';
import { objectsOf } from '../../../../formats/gemini/wire.ts';
import { compact } from '../../../../formats/json/object.ts';

/** Image models do not call functions, so the call id is never used. */
export const replyContext = (model: string): ReplyContext => ({ model, newCallId: () => 'call' });

/** The result of one call: images, or the reason why there are none. */
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

/**
 * The reason why a reply has no image. A refusal by the filter is an error for the caller. A model that returned text instead, or
 * stopped for another reason, is a failure of the upstream: a retry or another target may return an image.
 */
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

/**
 * The tokens of all calls together, for the gateway's counters and in OpenAI's form for images (docs/protocols/images.md#summed-usage,
 * docs/protocols/images.md#image-usage).
 */
function usageOf(calls: readonly (readonly GenerationEvent[])[]): { usage: Usage; raw: JsonObject } | undefined {
  const counted = calls.flatMap((events) => countCall(events) ?? []);
  if (counted.length === 0) return undefined;
  const usages = counted.map((call) => call.usage);
  const usage = addUsages(usages);
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
