import { moderationsFields } from '../../formats/fields/field-tables.ts';
import { openaiChat } from '../../formats/openai-chat/index.ts';
import type { Operation } from '../kernel/index.ts';
import { bodySchema } from './body-schema.ts';

/** OpenAI's moderations: https://platform.openai.com/docs/api-reference/moderations/create */
export const moderations: Operation = {
  id: 'moderations',
  method: 'POST',
  path: '/v1/moderations',
  task: 'moderations',
  semconvName: 'moderation',
  // For errors only: the provider's codec reads and writes the bodies.
  format: openaiChat,
  fields: moderationsFields,
  validate: bodySchema('moderations'),
};
