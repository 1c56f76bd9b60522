import type { JsonObject } from '../../../../formats/conversation.ts';
import type { UpstreamFailure, Usage } from '../../../../formats/events.ts';
import { bareMime } from '../../../../formats/media/media-types.ts';
import type { CodecContext, TaskReply } from '../../codec.ts';
import { compact } from '../../../../formats/json/object.ts';

export interface Image {
  /** base64 */
  readonly data: string;
  readonly mime?: string;
  /** The prompt as rewritten by the model. */
  readonly revisedPrompt?: string;
  readonly text?: string;
}

interface DrawnImages {
  readonly images: readonly Image[];
  /** The number of requested images that are missing. */
  readonly missing: number;
  readonly reasons: readonly string[];
}

/** At least one image, in OpenAI's form (docs/protocols/images.md#openai-reply). */
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
  const counted = usage?.usage ?? { input: 0, output: 0, total: 0 };
  return { ok: true, body, model, usage: { ...counted, images: images.length } };
}

const toItem = ({ data, revisedPrompt, text }: Image, strict: boolean): JsonObject =>
  compact({ b64_json: data, revised_prompt: revisedPrompt, text: strict ? undefined : text });

const FORMATS: ReadonlyMap<string, string> = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpeg'],
  ['image/webp', 'webp'],
]);

/** The common format of all images; undefined where they differ or OpenAI has no name for it. */
function formatOf(images: readonly Image[]): string | undefined {
  const formats = new Set(images.map(({ mime }) => mime && FORMATS.get(bareMime(mime))));
  const [format] = formats;
  return formats.size === 1 ? format : undefined;
}

/** A reply without images is an error with the reasons and OpenAI's code for it (docs/protocols/images.md#all-filtered). */
export function contentPolicyViolation(reasons: readonly string[], kind?: string): UpstreamFailure {
  const why = reasons.length > 0 ? reasons.join(' ') : 'The upstream gave no reason.';
  return {
    status: 400,
    code: 'content_policy_violation',
    message: `No image: the safety filter of the upstream stopped the request. ${why}`,
    ...(kind !== undefined && { kind }),
  };
}

export function sentences(reasons: readonly string[]): string[] {
  const whole = reasons.map((reason) => reason.trim()).filter((reason) => reason !== '');
  return [...new Set(whole.map((reason) => (/[.!?]$/.test(reason) ? reason : `${reason}.`)))];
}
