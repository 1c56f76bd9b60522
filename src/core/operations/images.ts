import { imagesFields } from '../../formats/fields/field-tables.ts';
import { openaiChat } from '../../formats/openai-chat/index.ts';
import type { Operation } from '../kernel/index.ts';
import { bodySchema } from './body-schema.ts';

/** OpenAI's images: https://platform.openai.com/docs/api-reference/images/create */
export const images: Operation = {
  id: 'images.generations',
  method: 'POST',
  path: '/v1/images/generations',
  task: 'images',
  semconvName: 'image_generation',
  // For errors only: the provider's codec reads and writes the bodies.
  format: openaiChat,
  fields: imagesFields,
  validate: bodySchema('images'),
};
