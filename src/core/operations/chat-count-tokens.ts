import { chatFields } from '../../formats/fields/field-tables.ts';
import { openaiChat } from '../../formats/openai-chat/index.ts';
import type { Operation } from '../kernel/index.ts';
import { bodySchema } from './body-schema.ts';

/**
 * The count of a chat request's tokens. OpenAI has no such operation: the body is that of a chat completion, and the
 * reply is `{object, input_tokens}`, as OpenAI counts for its Responses API.
 */
export const chatCountTokens: Operation = {
  id: 'chat.completions.count_tokens',
  method: 'POST',
  path: '/v1/chat/completions/count_tokens',
  task: 'count_tokens',
  semconvName: 'count_tokens',
  format: openaiChat,
  fields: chatFields,
  validate: bodySchema('chat-completions'),
};
