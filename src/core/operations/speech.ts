import { speechFields } from '../../formats/fields/field-tables.ts';
import { openaiChat } from '../../formats/openai-chat/index.ts';
import type { Operation } from '../kernel/index.ts';
import { bodySchema } from './body-schema.ts';

/** OpenAI's speech: https://platform.openai.com/docs/api-reference/audio/createSpeech */
export const speech: Operation = {
  id: 'audio.speech',
  method: 'POST',
  path: '/v1/audio/speech',
  task: 'speech',
  semconvName: 'speech',
  // For errors only: the provider's codec reads and writes the bodies.
  format: openaiChat,
  fields: speechFields,
  validate: bodySchema('speech'),
};
