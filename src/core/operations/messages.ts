import { anthropicMessages } from '../../formats/anthropic-messages/index.ts';
import { messagesFields } from '../../formats/fields/field-tables.ts';
import type { Operation, RequestBody } from '../kernel/index.ts';
import { bodySchema } from './body-schema.ts';
import { onClaude } from './gemini-paths.ts';

const POST = { method: 'POST', format: anthropicMessages, fields: messagesFields } as const;

/** https://platform.claude.com/docs/en/api/messages */
export const messages: Operation = {
  ...POST,
  id: 'messages',
  path: '/v1/messages',
  task: 'generate',
  semconvName: 'chat',
  validate: bodySchema('messages'),
};

/** https://platform.claude.com/docs/en/api/messages-count-tokens */
export const countTokens: Operation = {
  ...POST,
  id: 'messages.count_tokens',
  path: '/v1/messages/count_tokens',
  task: 'count_tokens',
  semconvName: 'count_tokens',
  validate: bodySchema('count-tokens'),
};

const PREFIX = 'anthropic.';

const OF_VERTEX = { provider: 'vertex-ai', modelPrefix: PREFIX } as const;

/** Vertex AI counts at one path for all of Claude's models and has the model in the body, without a prefix. */
function countedModel(_: unknown, body: RequestBody): { readonly model?: string } {
  const model = body.has('model') ? body.value('model') : undefined;
  return typeof model === 'string' && !model.startsWith('@') && !model.startsWith(PREFIX)
    ? { model: PREFIX + model }
    : {};
}

/** The paths of Vertex AI (docs/protocols/vertex-ai.md#paths). The count comes first: its path fits a model's. */
export const vertexMessages: readonly Operation[] = [
  ...onClaude('count-tokens', 'rawPredict').map(({ path }): Operation => ({
    ...countTokens,
    ...OF_VERTEX,
    path,
    fieldsInPath: countedModel,
  })),
  ...[...onClaude('{+model}', 'rawPredict', false), ...onClaude('{+model}', 'streamRawPredict', true)].map(
    (path): Operation => ({ ...messages, ...OF_VERTEX, ...path }),
  ),
];
