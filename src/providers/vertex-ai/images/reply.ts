import type { JsonObject } from '../../../formats/conversation.ts';
import type { UpstreamFailure, Usage } from '../../../formats/events.ts';
import { bareMime } from '../../../formats/media/media-types.ts';
import type { CodecContext, TaskReply } from '../../codec.ts';
import { compact } from '../../../formats/json/compact.ts';

/** One image of an upstream's reply. */
export interface Image {
  /** base64 */
  readonly data: string;
  readonly mime?: string;
  /** The prompt as the model rewrote it. */
  readonly revisedPrompt?: string;
  /** What the model said with it. */
  readonly text?: string;
}

export interface DrawnImages {
  readonly images: readonly Image[];
  /** How many were asked for and did not come. */
  readonly missing: number;
  /** Why, each reason once. */
  readonly reasons: readonly string[];
}

/** At least one image, in OpenAI's words (wire.md A8). A client that is not strict is told how many the filter took. */
export function imagesReply(
  { images, missing, reasons }: DrawnImages,
  { created, strict, model }: Pick<CodecContext, 'created' | 'strict' | 'model'>,
  usage?: { readonly usage: Usage; readonly raw: JsonObject },
): TaskReply {
  const body = compact({
    created,
    data: images.map((image) => toItem(image, strict)),
    output_format: formatOf(images),
    usage: usage?.raw,
    filtered: missing > 0 && !strict ? compact({ count: missing, reasons }) : undefined,
  });
  return { ok: true, body, model, ...(usage && { usage: usage.usage }) };
}

function toItem({ data, revisedPrompt, text }: Image, strict: boolean): JsonObject {
  return compact({ b64_json: data, revised_prompt: revisedPrompt, text: strict ? undefined : text });
}

const FORMATS: ReadonlyMap<string, string> = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpeg'],
  ['image/webp', 'webp'],
]);

/** One word stands for all images: told where they are alike and OpenAI has a word for it. */
function formatOf(images: readonly Image[]): string | undefined {
  const formats = new Set(images.map(({ mime }) => mime && FORMATS.get(bareMime(mime))));
  const [format] = formats;
  return formats.size === 1 ? format : undefined;
}

/** Filtered results are an error with the reason (OpenAI's own code for it, wire.md D14), never a reply without images. */
export function contentPolicyViolation(reasons: readonly string[], kind?: string): UpstreamFailure {
  const why = reasons.length > 0 ? reasons.join(' ') : 'The upstream gave no reason.';
  return {
    status: 400,
    code: 'content_policy_violation',
    message: `No image: the safety filter of the upstream stopped the request. ${why}`,
    ...(kind !== undefined && { kind }),
  };
}

/** Reasons as sentences, each once, in the order they came. */
export function sentences(reasons: readonly string[]): string[] {
  const whole = reasons.map((reason) => reason.trim()).filter((reason) => reason !== '');
  return [...new Set(whole.map((reason) => (/[.!?]$/.test(reason) ? reason : `${reason}.`)))];
}
