import { messagesFields } from '../../formats/fields/field-tables.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/index.ts';
import type { Operation } from '../kernel/index.ts';
import { bodySchema } from './body-schema.ts';

/** Anthropic's count of a request's tokens: https://platform.claude.com/docs/en/api/messages-count-tokens */
export const countTokens: Operation = {
  id: 'messages.count_tokens',
  method: 'POST',
  path: '/v1/messages/count_tokens',
  task: 'count_tokens',
  semconvName: 'count_tokens',
  format: anthropicMessages,
  fields: messagesFields,
  validate: bodySchema('count-tokens'),
};
