import { completionsFields } from '../../formats/fields/field-tables.ts';
import { openaiChat } from '../../formats/openai-chat/index.ts';
import type { Operation } from '../kernel/index.ts';
import { bodySchema } from './body-schema.ts';

/** OpenAI's completions: https://platform.openai.com/docs/api-reference/completions/create */
export const completions: Operation = {
  id: 'completions',
  method: 'POST',
  path: '/v1/completions',
  task: 'completions',
  semconvName: 'text_completion',
  // For errors only: the provider's codec reads and writes the bodies.
  format: openaiChat,
  fields: completionsFields,
  validate: bodySchema('completions'),
};
