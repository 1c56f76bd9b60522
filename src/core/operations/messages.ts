import { messagesFields } from '../../formats/fields/field-tables.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/index.ts';
import type { Operation } from '../kernel/index.ts';
import { bodySchema } from './body-schema.ts';

/** Anthropic's Messages: https://platform.claude.com/docs/en/api/messages */
export const messages: Operation = {
  id: 'messages',
  method: 'POST',
  path: '/v1/messages',
  task: 'generate',
  semconvName: 'chat',
  format: anthropicMessages,
  fields: messagesFields,
  validate: bodySchema('messages'),
};
