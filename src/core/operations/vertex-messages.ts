import { anthropicMessages } from '../../formats/anthropic-messages/index.ts';
import { messagesFields } from '../../formats/fields/field-tables.ts';
import type { Operation, RequestBody } from '../kernel/index.ts';
import { bodySchema } from './body-schema.ts';
import { onClaude } from './gemini-paths.ts';

const PREFIX = 'anthropic.';

const MESSAGES = {
  method: 'POST',
  provider: 'vertex-ai',
  modelPrefix: PREFIX,
  format: anthropicMessages,
  fields: messagesFields,
} as const;

const GENERATE = { ...MESSAGES, id: 'messages', task: 'generate', semconvName: 'chat' } as const;

/** Vertex AI counts at one path for all of Claude's models and has the model in the body, without a prefix. */
function countedModel(_: unknown, body: RequestBody): { readonly model?: string } {
  const model = body.has('model') ? body.value('model') : undefined;
  return typeof model === 'string' && !model.startsWith('@') && !model.startsWith(PREFIX)
    ? { model: PREFIX + model }
    : {};
}

/**
 * Anthropic's Messages at the paths of Vertex AI, for Anthropic's clients of Vertex AI (docs/protocols/vertex-ai.md#paths). The count comes
 * first, whose path is that of a model with this name.
 */
export const vertexMessages: readonly Operation[] = [
  ...onClaude('count-tokens', 'rawPredict').map(({ path }): Operation => ({
    ...MESSAGES,
    id: 'messages.count_tokens',
    task: 'count_tokens',
    semconvName: 'count_tokens',
    path,
    validate: bodySchema('count-tokens'),
    fieldsInPath: countedModel,
  })),
  ...[...onClaude('{+model}', 'rawPredict', false), ...onClaude('{+model}', 'streamRawPredict', true)].map(
    (path): Operation => ({ ...GENERATE, ...path, validate: bodySchema('messages') }),
  ),
];
