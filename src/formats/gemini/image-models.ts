import type { ImageModel } from '../media/image-shape.ts';

/** The differences between Gemini's image models (docs/protocols/images.md#gemini-image-models). */
export interface GeminiImageModel extends ImageModel {
  readonly modalities: readonly string[];
}

const GEMINI_RATIOS = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'];

/** `gemini-2.0-flash-preview-image-generation`, `gemini-2.5-flash-image`, `gemini-3-pro-image-preview`. */
export const GEMINI_IMAGE = /^gemini-.*image/;

/** Before the third generation, models return images only together with text, and in one resolution. */
const EARLY = /^gemini-2/;

export function geminiImageModel(model: string): GeminiImageModel {
  const early = EARLY.test(model.toLowerCase());
  return {
    ratios: GEMINI_RATIOS,
    resolutions: early ? ['1K'] : ['1K', '2K', '4K'],
    modalities: early ? ['TEXT', 'IMAGE'] : ['IMAGE'],
  };
}
