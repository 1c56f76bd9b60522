import { embeddingsFields } from '../../formats/fields/field-tables.ts';
import { openaiChat } from '../../formats/openai-chat/index.ts';
import type { Operation } from '../kernel/index.ts';
import { bodySchema } from './body-schema.ts';

/** OpenAI's embeddings: https://platform.openai.com/docs/api-reference/embeddings/create */
export const embeddings: Operation = {
  id: 'embeddings',
  method: 'POST',
  path: '/v1/embeddings',
  task: 'embeddings',
  semconvName: 'embeddings',
  // For errors only: the provider's codec reads and writes the bodies.
  format: openaiChat,
  fields: embeddingsFields,
  validate: bodySchema('embeddings'),
};
