import { RequestFault } from '../faults.ts';
import type { LossReport } from '../losses/losses.ts';

/** The shapes of images that a model of Google can draw. */
export interface ImageModel {
  /** Supported aspect ratios, in Google's notation. */
  readonly ratios: readonly string[];
  /** Supported resolutions, smallest first. */
  readonly resolutions: readonly Resolution[];
}

type Resolution = '1K' | '2K' | '4K';

/** The parameters of Google's models that replace a size in pixels. */
export interface ImageShape {
  readonly aspectRatio?: string;
  /** Omitted for the smallest resolution, the default of every model. */
  readonly imageSize?: Resolution;
}

const PIXELS: Readonly<Record<Resolution, number>> = { '1K': 1024, '2K': 2048, '4K': 4096 };

/**
 * OpenAI's `size` as the nearest shape and resolution that a model has (docs/protocols/images.md#size): 1024x1024 is 1:1, 1792x1024 is
 * 16:9, and 1536x1024 is 3:2 or, without that shape, 4:3. Only squares have the exact pixels; every other size is a reported loss.
 * An invalid size is refused.
 * @param param the path of `size` in the request
 */
export function shapeOf(size: string | undefined, model: ImageModel, losses: LossReport, param = 'size'): ImageShape {
  if (size === undefined || size === 'auto') return {};
  const [width, height] = readPixels(size, param);
  const aspectRatio = nearest(model.ratios, ratioOf, width / height);
  const resolution = nearest(model.resolutions, (name) => PIXELS[name], Math.sqrt(width * height));
  const exact = width === height && width === PIXELS[resolution];
  if (!exact)
    losses.downgraded(
      param,
      `the model has aspect ratios instead of sizes in pixels: ${aspectRatio} in ${resolution} is the nearest`,
    );
  return { aspectRatio, ...(resolution !== model.resolutions[0] && { imageSize: resolution }) };
}

function readPixels(size: string, param: string): [number, number] {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(size) ?? [];
  if (Number(width) > 0 && Number(height) > 0) return [Number(width), Number(height)];
  throw new RequestFault(
    'invalid_value',
    `\`${param}\` must be \`auto\` or a width and a height, such as \`1024x1024\`.`,
    param,
  );
}

function ratioOf(name: string): number {
  const [width, height] = name.split(':');
  return Number(width) / Number(height);
}

/** The nearest choice by proportion: 2:1 is as far from 1:1 as 1:2. */
function nearest<T>(choices: readonly T[], valueOf: (choice: T) => number, wanted: number): T {
  const distance = (choice: T): number => Math.abs(Math.log(valueOf(choice) / wanted));
  return choices.reduce((best, choice) => (distance(choice) < distance(best) ? choice : best));
}
