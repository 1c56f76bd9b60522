import type { ImageModel } from '../../../../formats/media/image-shape.ts';

/** The differences between the models of Imagen (docs/protocols/images.md#models). */
export interface ImagenModel extends ImageModel {
  /** Maximum number of images per request. */
  readonly maxImages: number;
  /** Styles are supported; by the second version only. */
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
