import type { JsonObject } from '../../../formats/conversation.ts';
import { ReplyFault } from '../../../formats/format.ts';
import { decodeInnerFailure } from '../../../formats/gemini/errors.ts';
import type { CodecContext, TaskReply } from '../../codec.ts';
import { contentPolicyViolation, imagesReply, sentences, type Image } from './reply.ts';
import { stringOf } from '../../../formats/json/read.ts';
import { isObject } from '../../../formats/json/object.ts';
import { compact } from '../../../formats/json/compact.ts';

/**
 * Predictions → OpenAI's images. A filtered image is an entry with a reason, or no entry, down to the body `{}`. Some entries only
 * rate the prompt (docs/protocols/images.md#filtered-images). So only entries with an image count.
 * @param requested number of images in the request
 */
export function decodeImagen(body: unknown, requested: number, context: CodecContext): TaskReply {
  if (!isObject(body)) throw new ReplyFault('the reply is not a JSON object');
  const error = body['error'] ?? undefined;
  if (error !== undefined) return { ok: false, failure: decodeInnerFailure(error) };
  const predictions = body['predictions'] ?? [];
  if (!Array.isArray(predictions)) throw new ReplyFault('the predictions of the reply are not a list');
  const entries = predictions.filter(isObject);
  const images = entries.flatMap((entry) => imageOf(entry) ?? []);
  const reasons = sentences(entries.flatMap((entry) => stringOf(entry['raiFilteredReason']) ?? []));
  if (images.length === 0) return { ok: false, failure: contentPolicyViolation(reasons) };
  return imagesReply({ images, missing: Math.max(0, requested - images.length), reasons }, context);
}

function imageOf(entry: JsonObject): Image | undefined {
  const data = stringOf(entry['bytesBase64Encoded']) || undefined;
  if (data === undefined) return undefined;
  return compact({ data, mime: stringOf(entry['mimeType']), revisedPrompt: stringOf(entry['prompt']) });
}
