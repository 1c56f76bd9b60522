import type { JsonObject } from '../../../../formats/conversation.ts';
import { RequestFault } from '../../../../formats/faults.ts';
import type { LossReport } from '../../../../formats/losses/losses.ts';
import {
  invalidValue,
  readBoolean,
  readNumber,
  readObject,
  readString,
  required,
} from '../../../../formats/openai-chat/read.ts';
import { compact } from '../../../../formats/json/object.ts';
import { shapeOf, type ImageModel, type ImageShape } from '../../../../formats/media/image-shape.ts';
import { toCamel } from '../../../../formats/json/field-names.ts';

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
  const prompt = required(fields.read(readString, 'prompt'), 'prompt');
  // Imagen's default is four images, OpenAI's is one.
  const n = fields.integer('n', 1, options.maxImages) ?? 1;
  const stream = fields.read(readBoolean, 'stream') ?? false;
  const shape = readShape(fields, options.model, losses);
  const output = readOutput(fields, options, losses);
  reportOpenAiOnly(fields, losses);
  const personGeneration = fields.read(readString, 'personGeneration');
  return { prompt, n, stream, shape, output, personGeneration, labels: fields.read(readObject, 'labels') };
}

function readShape(fields: ImageFields, model: ImageModel, losses: LossReport): ImagesRequest['shape'] {
  const size = fields.read(readString, 'size');
  const aspectRatio = fields.read(readString, 'aspectRatio');
  const imageSize = fields.read(readString, 'imageSize', 'sampleImageSize');
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
  const format = fields.read(readString, 'outputFormat');
  if (format !== undefined && !MIME_TYPES.has(format))
    throw invalidValue('output_format', '`output_format` must be `png`, `jpeg` or `webp`.');
  if (format === 'webp') losses.dropped('output_format', 'the model returns PNG and JPEG only');
  const quality = fields.read(readString, 'quality');
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
  const background = fields.read(readString, 'background');
  if (background !== undefined && background !== 'auto') losses.dropped('background', 'the model has no such setting');
  const moderation = fields.read(readString, 'moderation');
  if (moderation !== undefined && moderation !== 'auto')
    losses.dropped('moderation', 'Google has safety settings of its own');
  if (fields.integer('partialImages', 0, 3)) losses.dropped('partial_images', 'the model returns no drafts');
  if (fields.read(readString, 'user') !== undefined) losses.dropped('user', 'Google has no user identifier');
}

/** The models return bytes and have no address for an image, so `url` is refused (docs/protocols/images.md#response-format). */
export function checkResponseFormat(fields: ImageFields): void {
  const format = fields.read(readString, 'responseFormat');
  if (format === undefined || format === 'b64_json') return;
  const isUrl = format === 'url';
  const message = isUrl ? 'The model returns the bytes of an image and no URL: use' : '`response_format` must be';
  throw invalidValue('response_format', `${message} \`b64_json\`.`);
}

export function reportRest(fields: ImageFields, losses: LossReport, who: string): void {
  for (const key of fields.rest()) losses.dropped(key, `${who} has no such field`);
}

interface SpelledField {
  /** The caller's spelling. */
  readonly key: string;
  readonly value: unknown;
}

/** A caller's body, read field by field. Callers write the fields of OpenAI and of Google in either case. */
export class ImageFields {
  readonly #left = new Map<string, SpelledField>();

  constructor(body: JsonObject) {
    for (const [key, value] of Object.entries(body)) {
      // OpenAI's SDKs send null for "not set".
      if (value === null || value === undefined) continue;
      const name = toCamel(key);
      const other = this.#left.get(name);
      if (other) throw new RequestFault('invalid_request', `\`${other.key}\` and \`${key}\` are the same field.`, key);
      this.#left.set(name, { key, value });
    }
  }

  /** @param names the names of one field in different models, in camelCase */
  take(...names: string[]): SpelledField | undefined {
    const found = names.filter((name) => this.#left.has(name)).map((name) => this.#left.get(name)!);
    const [field, other] = found;
    if (field && other)
      throw new RequestFault('invalid_request', `\`${field.key}\` and \`${other.key}\` are the same field.`, other.key);
    for (const name of names) this.#left.delete(name);
    return field;
  }

  read<T>(read: (value: unknown, param: string) => T, ...names: string[]): T | undefined {
    const field = this.take(...names);
    return field && read(field.value, field.key);
  }

  /** A whole number within bounds; the fault uses the caller's spelling. */
  integer(name: string, min: number, max: number): number | undefined {
    const field = this.take(name);
    const number = field && readNumber(field.value, field.key);
    if (field === undefined || number === undefined) return undefined;
    if (Number.isInteger(number) && number >= min && number <= max) return number;
    throw invalidValue(field.key, `\`${field.key}\` must be a whole number from ${min} to ${max}.`);
  }

  /** The keys that were not taken, in the caller's spelling. */
  rest(): string[] {
    return [...this.#left.values()].map(({ key }) => key);
  }
}
