import { unsupportedTask } from '../../model-name.ts';
import type { Spot } from '../families.ts';

/** @param under path of the model with a method behind it */
export function embeddingSpot(model: string, _under: (method: string) => string): Spot {
  throw unsupportedTask(model, 'embeddings');
}
