import { chatFields } from '../../formats/fields/field-tables.ts';
import { openaiChat } from '../../formats/openai-chat/index.ts';
import type { Operation } from '../kernel/index.ts';
import { bodySchema } from './body-schema.ts';

/** OpenAI's chat completions: https://platform.openai.com/docs/api-reference/chat/create */
export const chatCompletions: Operation = {
  id: 'chat.completions',
  method: 'POST',
  path: '/v1/chat/completions',
  task: 'generate',
  semconvName: 'chat',
  format: openaiChat,
  fields: chatFields,
  validate: bodySchema('chat-completions'),
};
