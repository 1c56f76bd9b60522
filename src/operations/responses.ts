import { responsesFields } from '../formats/fields/field-tables.ts';
import { openaiResponses } from '../formats/openai-responses/index.ts';
import type { Operation } from '../plugin/index.ts';
import { bodySchema } from './body-schema.ts';

/** OpenAI's Responses: https://platform.openai.com/docs/api-reference/responses/create */
export const responses: Operation = {
  id: 'responses',
  method: 'POST',
  path: '/v1/responses',
  task: 'generate',
  semconvName: 'chat',
  format: openaiResponses,
  fields: responsesFields,
  validate: bodySchema('responses'),
};

/** https://platform.openai.com/docs/api-reference/responses/input-tokens */
export const responsesInputTokens: Operation = {
  ...responses,
  id: 'responses.input_tokens',
  path: '/v1/responses/input_tokens',
  task: 'count_tokens',
  semconvName: 'count_tokens',
};
