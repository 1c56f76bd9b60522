import type { GenerationEvent, UpstreamFailure } from '../../../formats/events.ts';
import type { ReplyContext } from '../../../formats/format.ts';
import { decodeReply } from '../../../formats/gemini/decode-reply.ts';
import { repeatable } from '../../../formats/streams/repeated.ts';
import type { CodecContext, TaskReply } from '../../codec.ts';
import { contentPolicyViolation, imagesReply, sentences, type Image } from './reply.ts';
import { usageOf } from './usage.ts';

/** No image model calls functions. */
export const replyContext = (model: string): ReplyContext => ({ model, newCallId: () => 'call' });

/** What one call came to: images, or why there are none. */
interface Outcome {
  readonly images: readonly Image[];
  readonly failure: UpstreamFailure | undefined;
  readonly reason: string | undefined;
}

/** Replies of generateContent → OpenAI's images. Those that brought none are told where others did, and an error where none did. */
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

/** The first failure stands for all; where it is the filter's, with the reasons of all. */
function joinFailures(outcomes: readonly Outcome[], reasons: readonly string[]): UpstreamFailure {
  const failure = outcomes[0]?.failure ?? contentPolicyViolation([]);
  return failure.code === 'content_policy_violation' ? contentPolicyViolation(reasons, failure.kind) : failure;
}

function readOutcome(events: readonly GenerationEvent[]): Outcome {
  const text = events.flatMap((event) => (event.type === 'text' ? event.text : [])).join('');
  const pictures = events.filter((event) => event.type === 'media' && event.mime.startsWith('image/'));
  // A long text stands beside the first image alone: a copy for each of many would be a multiple of what was received.
  const images = pictures.flatMap((event, at): Image[] => {
    const said = at === 0 ? text : repeatable(text);
    return event.type === 'media' ? [{ data: event.data, mime: event.mime, ...(said && { text: said }) }] : [];
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

/** Most of what a model says in place of an image fits. */
const MAX_TEXT = 500;

/**
 * Why a reply holds no image. The filter's word is the caller's to act on; a model that talked instead, or stopped for reasons of its
 * own, may draw when it is asked again or another one is.
 */
function explain(finish: Finish | undefined, text: string): Pick<Outcome, 'failure' | 'reason'> {
  const word = finish?.native;
  const said = [finish?.message, text].filter(Boolean).join(' ').slice(0, MAX_TEXT).toWellFormed();
  const reason = [word, said].filter(Boolean).join(': ');
  if (finish?.reason === 'content_filter' || (word !== undefined && NO_PICTURE.test(word)))
    return { failure: contentPolicyViolation(sentences([reason]), word), reason };
  const message = `The model answered without an image (${word ?? 'no finish reason'})${said && `: ${said}`}`;
  return { failure: { status: 502, kind: word ?? 'NO_IMAGE', message }, reason: message };
}
