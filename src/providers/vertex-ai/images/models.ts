/** The differences between Google's image models (docs/protocols/images.md#models). */
export interface ImageModel {
  /** Supported aspect ratios, in Google's notation. */
  readonly ratios: readonly string[];
  /** Supported resolutions, smallest first. */
  readonly resolutions: readonly Resolution[];
}

export type Resolution = '1K' | '2K' | '4K';

export interface ImagenModel extends ImageModel {
  /** Maximum number of images per request. */
  readonly maxImages: number;
  /** Styles are supported; by the second version only. */
  readonly styles: boolean;
}

export interface GeminiImageModel extends ImageModel {
  readonly modalities: readonly string[];
}

const IMAGEN_RATIOS = ['1:1', '3:4', '4:3', '9:16', '16:9'];
const GEMINI_RATIOS = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'];

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
