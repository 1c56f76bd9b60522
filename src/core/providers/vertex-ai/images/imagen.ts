import type { JsonObject } from '../../../../formats/conversation.ts';
import { addDerived, checkLabels } from '../../../../formats/labels.ts';
import { LossReport } from '../../../../formats/losses/losses.ts';
import { readBoolean, readNumber, readString } from '../../../../formats/openai-chat/read.ts';
import type { CodecContext, TranslatingCodec, TaskReply } from '../../codec.ts';
import { asImageEvents } from '../../../../formats/streams/openai-image-events.ts';
import { ImageFields, checkResponseFormat, readRequest, reportRest, type ImagesRequest } from './request.ts';
import { compact, stringOf, isObject } from '../../../../formats/json/object.ts';
import { ReplyFault } from '../../../../formats/faults.ts';
import { decodeInnerFailure } from '../../../../formats/gemini/errors.ts';
import { contentPolicyViolation, imagesReply, sentences, type Image } from './reply.ts';
import type { ImageModel } from '../../../../formats/media/image-shape.ts';

/** OpenAI's two qualities, and their later names (docs/protocols/images.md#quality). */
const COMPRESSION_OF = new Map([
  ['hd', 100],
  ['high', 100],
  ['standard', 75],
  ['medium', 75],
]);

/** Imagen by `:predict` (docs/protocols/images.md#imagen, docs/protocols/images.md#mapping). */
export const imagenCodec = (model: ImagenModel): TranslatingCodec => ({
  mode: 'translate',
  encode(body, context) {
    const losses = new LossReport();
    const fields = new ImageFields(body);
    const options = { model, maxImages: model.maxImages, compressionOf: COMPRESSION_OF };
    const request = readRequest(fields, options, losses);
    const call = encodeImagen(fields, request, { model, context, losses });
    return {
      calls: [call],
      parallel: 1,
      losses: losses.list(),
      decode: ([reply]) => decodeImagen(reply, request.n, context),
      ...(request.stream && { stream: asImageEvents }),
    };
  },
});

interface Encoding {
  readonly model: ImagenModel;
  readonly context: CodecContext;
  readonly losses: LossReport;
}

function encodeImagen(fields: ImageFields, request: ImagesRequest, { model, context, losses }: Encoding): JsonObject {
  const { prompt, n, shape, output, personGeneration } = request;
  checkResponseFormat(fields);
  const parameters = compact({
    sampleCount: n,
    aspectRatio: shape.aspectRatio,
    sampleImageSize: shape.imageSize,
    sampleImageStyle: readStyle(fields, model, losses),
    personGeneration,
    ...readExtensions(fields),
    outputOptions: Object.keys(output).length > 0 ? output : undefined,
    // Without it the reply does not mention a filtered image (docs/protocols/images.md#filtered-images).
    includeRaiReason: true,
  });
  // The gateway always requests the reasons, so the caller's own field has no effect.
  fields.take('includeRaiReason');
  reportRest(fields, losses, 'Imagen');
  const labels = addDerived(checkLabels(request.labels ?? {}), context, losses);
  return { instances: [{ prompt }], parameters, ...(Object.keys(labels).length > 0 && { labels }) };
}

function readStyle(fields: ImageFields, model: ImagenModel, losses: LossReport): string | undefined {
  const field = fields.take('style', 'sampleImageStyle');
  if (field === undefined || model.styles) return field && readString(field.value, field.key);
  losses.dropped(field.key, 'only imagegeneration@002 has styles');
  return undefined;
}

/** Imagen's own parameters. Imagen itself checks which version accepts which values. */
const readExtensions = (fields: ImageFields): JsonObject => ({
  seed: fields.read(readNumber, 'seed'),
  negativePrompt: fields.read(readString, 'negativePrompt'),
  safetySetting: fields.read(readString, 'safetySetting'),
  addWatermark: fields.read(readBoolean, 'addWatermark'),
  enhancePrompt: fields.read(readBoolean, 'enhancePrompt'),
  language: fields.read(readString, 'language'),
  guidanceScale: fields.read(readNumber, 'guidanceScale'),
  includeSafetyAttributes: fields.read(readBoolean, 'includeSafetyAttributes'),
});

/**
 * A filtered image is an entry with a reason, or no entry, down to the body `{}`; some entries only rate the prompt
 * (docs/protocols/images.md#filtered-images). So only entries with an image count.
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

/** The differences between the models of Imagen (docs/protocols/images.md#models). */
interface ImagenModel extends ImageModel {
  readonly maxImages: number;
  readonly styles: boolean;
}

const IMAGEN_RATIOS = ['1:1', '3:4', '4:3', '9:16', '16:9'];

/** `imagen-4.0-ultra-generate-001`, `imagen-3.0-fast-generate-001`, `imagegeneration@006`. */
export const IMAGEN = /^(?:imagen-|imagegeneration@)/;

export function imagenModel(model: string): ImagenModel {
  const name = model.toLowerCase();
  const second = name === 'imagegeneration@002';
  return {
    ratios: IMAGEN_RATIOS,
    resolutions: /^imagen-[4-9]/.test(name) ? ['1K', '2K'] : ['1K'],
    maxImages: second ? 8 : 4,
    styles: second,
  };
}
