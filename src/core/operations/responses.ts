import { responsesFields } from '../../formats/fields/field-tables.ts';
import { openaiResponses, responsesCompaction } from '../../formats/openai-responses/index.ts';
import { isReference, type Operation } from '../kernel/index.ts';
import { bodySchema } from './body-schema.ts';

/** OpenAI's Responses: https://platform.openai.com/docs/api-reference/responses/create */
export const createResponse: Operation = {
  id: 'responses',
  method: 'POST',
  path: '/v1/responses',
  task: 'generate',
  semconvName: 'chat',
  format: openaiResponses,
  fields: responsesFields,
  validate: bodySchema('responses'),
  hasReferences: ({ input }) => Array.isArray(input) && input.some(isReference),
};

/** https://platform.openai.com/docs/api-reference/responses/input-tokens */
export const inputTokens: Operation = {
  ...createResponse,
  id: 'responses.input_tokens',
  path: '/v1/responses/input_tokens',
  task: 'count_tokens',
  semconvName: 'count_tokens',
};

/** https://platform.openai.com/docs/api-reference/responses/compact */
export const compactResponse: Operation = {
  ...createResponse,
  id: 'responses.compact',
  path: '/v1/responses/compact',
  format: responsesCompaction,
  compacts: true,
  validate: (body) =>
    'stream' in Object(body) && Object(body).stream === true
      ? { message: '`stream`: a compaction is no stream.', param: 'stream', missing: false }
      : createResponse.validate(body),
};

const OF_GATEWAY = { task: undefined, format: openaiResponses, body: 'none', validate: () => undefined } as const;
const ONE = '/v1/responses/{id}';

/** The plugin `responses` answers for the responses that the gateway keeps. */
const ofKept: readonly Operation[] = [
  { ...OF_GATEWAY, id: 'responses.retrieve', method: 'GET', path: ONE, semconvName: 'retrieve_response' },
  { ...OF_GATEWAY, id: 'responses.delete', method: 'DELETE', path: ONE, semconvName: 'delete_response' },
  { ...OF_GATEWAY, id: 'responses.cancel', method: 'POST', path: `${ONE}/cancel`, semconvName: 'cancel_response' },
  {
    ...OF_GATEWAY,
    id: 'responses.input_items',
    method: 'GET',
    path: `${ONE}/input_items`,
    semconvName: 'list_input_items',
  },
];

/** Refused by name, where an unknown path would leave clients to guess: the gateway keeps responses and no conversations. */
const conversations: readonly Operation[] = (['GET', 'POST', 'DELETE'] as const)
  .flatMap((method) => ['', '/{+rest}'].map((rest) => [method, `/v1/conversations${rest}`] as const))
  .filter(([method, path]) => method === 'POST' || path.endsWith('}'))
  .map(([method, path]) => ({ ...OF_GATEWAY, id: 'conversations', method, path, semconvName: 'conversations' }));

export const responses: readonly Operation[] = [
  createResponse,
  inputTokens,
  compactResponse,
  ...ofKept,
  ...conversations,
];
