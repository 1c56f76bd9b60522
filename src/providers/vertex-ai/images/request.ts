import type { JsonObject } from '../../../formats/conversation.ts';
import { RequestFault } from '../../../formats/format.ts';
import type { LossReport } from '../../../formats/losses/losses.ts';
import { required } from '../../../formats/openai-chat/read.ts';
import type { ImageFields } from './fields.ts';
import type { ImageModel } from './models.ts';
import { shapeOf, type ImageShape } from './shape.ts';
import { compact } from '../../../formats/json/compact.ts';

/** What is asked of Imagen and of Gemini alike. */
export interface ImagesRequest {
  readonly prompt: string;
  readonly n: number;
  readonly stream: boolean;
  readonly shape: Readonly<{ [K in keyof ImageShape]: string }>;
  readonly output: { readonly mimeType?: string; readonly compressionQuality?: number };
  readonly personGeneration: string | undefined;
  readonly labels: JsonObject | undefined;
}

export interface ReadingOptions {
  readonly model: ImageModel;
  readonly maxImages: number;
  /** Compression that stands for OpenAI's `quality`, where the model has no better word for it. */
  readonly compressionOf?: ReadonlyMap<string, number>;
}

/** OpenAI's fields, and the extensions both kinds of models know. Throws RequestFault. */
export function readRequest(fields: ImageFields, options: ReadingOptions, losses: LossReport): ImagesRequest {
  fields.take('model');
  const prompt = required(fields.string('prompt'), 'prompt');
  // Imagen draws four where nobody says how many; OpenAI's default is one.
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
  // Google's own word for the shape says all of it: the size's shape next to it would be another.
  if (aspectRatio === undefined) return { ...shapeOf(size, model, losses), ...named };
  if (size !== undefined && size !== 'auto') losses.dropped('size', 'the aspect ratio says the shape already');
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
  if (format === 'webp') losses.dropped('output_format', 'the model writes PNG and JPEG only');
  const quality = fields.string('quality');
  const asCompression = quality === undefined ? undefined : compressionOf?.get(quality);
  if (quality !== undefined && quality !== 'auto') {
    if (asCompression === undefined) losses.dropped('quality', 'the model knows no such quality');
    else losses.downgraded('quality', 'the model knows only how much a JPEG is compressed');
  }
  const compression = fields.integer('outputCompression', 0, 100);
  return compact({
    mimeType: format === undefined ? undefined : MIME_TYPES.get(format),
    compressionQuality: compression ?? asCompression,
  });
}

/** Wishes without a counterpart. The value that says "as you like" loses nothing. */
function reportOpenAiOnly(fields: ImageFields, losses: LossReport): void {
  const background = fields.string('background');
  if (background !== undefined && background !== 'auto') losses.dropped('background', 'the model has no such choice');
  const moderation = fields.string('moderation');
  if (moderation !== undefined && moderation !== 'auto')
    losses.dropped('moderation', 'Google has safety settings of its own');
  const partial = fields.integer('partialImages', 0, 3);
  if (partial) losses.dropped('partial_images', 'the model shows no drafts');
  if (fields.string('user') !== undefined) losses.dropped('user', 'Google has no user identifier');
}

/** Where an image is kept, its address is all there is; elsewhere its bytes are (wire.md A8). */
export function checkResponseFormat(fields: ImageFields): void {
  const format = fields.string('responseFormat');
  if (format === undefined || format === 'b64_json') return;
  throw new RequestFault(
    'invalid_value',
    format === 'url'
      ? 'The model answers with the bytes of an image and has no address for it: use `b64_json`.'
      : '`response_format` must be `b64_json`.',
    'response_format',
  );
}

export function reportRest(fields: ImageFields, losses: LossReport, who: string): void {
  for (const key of fields.rest()) losses.dropped(key, `${who} has no such field`);
}
