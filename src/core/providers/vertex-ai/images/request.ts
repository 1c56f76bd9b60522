import type { JsonObject } from '../../../../formats/conversation.ts';
import { RequestFault } from '../../../../formats/format.ts';
import type { LossReport } from '../../../../formats/losses/losses.ts';
import { required } from '../../../../formats/openai-chat/read.ts';
import type { ImageFields } from './fields.ts';
import { compact } from '../../../../formats/json/object.ts';
import { shapeOf, type ImageModel, type ImageShape } from '../../../../formats/media/image-shape.ts';

/** The part of a request that Imagen and Gemini have in common. */
export interface ImagesRequest {
  readonly prompt: string;
  readonly n: number;
  readonly stream: boolean;
  readonly shape: Readonly<{ [K in keyof ImageShape]: string }>;
  readonly output: { readonly mimeType?: string; readonly compressionQuality?: number };
  readonly personGeneration: string | undefined;
  readonly labels: JsonObject | undefined;
}

interface ReadingOptions {
  readonly model: ImageModel;
  readonly maxImages: number;
  /** The JPEG compression for each `quality` of OpenAI, where the model has no closer setting. */
  readonly compressionOf?: ReadonlyMap<string, number>;
}

/** Reads OpenAI's fields and the extensions that both kinds of models support. Throws RequestFault. */
export function readRequest(fields: ImageFields, options: ReadingOptions, losses: LossReport): ImagesRequest {
  fields.take('model');
  const prompt = required(fields.string('prompt'), 'prompt');
  // Imagen's default is four images, OpenAI's is one.
  const n = fields.integer('n', 1, options.maxImages) ?? 1;
  const stream = fields.boolean('stream') ?? false;
  const shape = readShape(fields, options.model, losses);
  const output = readOutput(fields, options, losses);
  reportOpenAiOnly(fields, losses);
  const personGeneration = fields.string('personGeneration');
  return { prompt, n, stream, shape, output, personGeneration, labels: fields.object('labels') };
}

function readShape(fields: ImageFields, model: ImageModel, losses: LossReport): ImagesRequest['shape'] {
  const size = fields.string('size');
  const aspectRatio = fields.string('aspectRatio');
  const imageSize = fields.string('imageSize', 'sampleImageSize');
  const named = { ...(aspectRatio !== undefined && { aspectRatio }), ...(imageSize !== undefined && { imageSize }) };
  // `aspectRatio` fixes the shape, which `size` could contradict.
  if (aspectRatio === undefined) return { ...shapeOf(size, model, losses), ...named };
  if (size !== undefined && size !== 'auto') losses.dropped('size', 'the aspect ratio already determines the shape');
  return named;
}

const MIME_TYPES: ReadonlyMap<string, string | undefined> = new Map([
  ['png', 'image/png'],
  ['jpeg', 'image/jpeg'],
  ['webp', undefined],
]);

function readOutput(
  fields: ImageFields,
  { compressionOf }: ReadingOptions,
  losses: LossReport,
): ImagesRequest['output'] {
  const format = fields.string('outputFormat');
  if (format !== undefined && !MIME_TYPES.has(format))
    throw new RequestFault('invalid_value', '`output_format` must be `png`, `jpeg` or `webp`.', 'output_format');
  if (format === 'webp') losses.dropped('output_format', 'the model returns PNG and JPEG only');
  const quality = fields.string('quality');
  const asCompression = quality === undefined ? undefined : compressionOf?.get(quality);
  if (quality !== undefined && quality !== 'auto') {
    if (asCompression === undefined) losses.dropped('quality', 'the model does not support this quality');
    else losses.downgraded('quality', 'the model supports JPEG compression only');
  }
  const compression = fields.integer('outputCompression', 0, 100);
  return compact({
    mimeType: format === undefined ? undefined : MIME_TYPES.get(format),
    compressionQuality: compression ?? asCompression,
  });
}

/** Reports OpenAI's fields without an equivalent. The value `auto` is not a loss. */
function reportOpenAiOnly(fields: ImageFields, losses: LossReport): void {
  const background = fields.string('background');
  if (background !== undefined && background !== 'auto') losses.dropped('background', 'the model has no such setting');
  const moderation = fields.string('moderation');
  if (moderation !== undefined && moderation !== 'auto')
    losses.dropped('moderation', 'Google has safety settings of its own');
  const partial = fields.integer('partialImages', 0, 3);
  if (partial) losses.dropped('partial_images', 'the model returns no drafts');
  if (fields.string('user') !== undefined) losses.dropped('user', 'Google has no user identifier');
}

/** The models return bytes and have no address for an image, so `url` is refused (docs/protocols/images.md#response-format). */
export function checkResponseFormat(fields: ImageFields): void {
  const format = fields.string('responseFormat');
  if (format === undefined || format === 'b64_json') return;
  throw new RequestFault(
    'invalid_value',
    format === 'url'
      ? 'The model returns the bytes of an image and no URL: use `b64_json`.'
      : '`response_format` must be `b64_json`.',
    'response_format',
  );
}

export function reportRest(fields: ImageFields, losses: LossReport, who: string): void {
  for (const key of fields.rest()) losses.dropped(key, `${who} has no such field`);
}
