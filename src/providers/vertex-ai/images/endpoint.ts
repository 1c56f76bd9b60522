import { unsupportedTask } from '../../model-name.ts';
import type { ModelEndpoint } from '../model-endpoint.ts';
import { geminiImagesCodec } from './gemini.ts';
import { imagenCodec } from './imagen.ts';
import { geminiImageModel, imagenModel } from './models.ts';

/**
 * The path and codec of an image model (docs/protocols/vertex-ai.md#paths, docs/protocols/images.md#models). Errors have Google's
 * format, as those of Gemini.
 * @param under returns the path of the model with a method appended
 */
export function imageEndpoint(model: string, under: (method: string) => string): ModelEndpoint {
  const imagen = imagenModel(model);
  if (imagen) return { path: under(':predict'), format: 'gemini', model, codec: imagenCodec(imagen) };
  const gemini = geminiImageModel(model);
  if (gemini) return { path: under(':generateContent'), format: 'gemini', model, codec: geminiImagesCodec(gemini) };
  throw unsupportedTask(model, 'images');
}
