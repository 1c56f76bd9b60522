import { promptFields } from '../../formats/fields/field-tables.ts';
import { openaiChat } from '../../formats/openai-chat/index.ts';
import type { Operation } from '../../core/kernel/index.ts';
import { bodySchema } from '../../core/operations/body-schema.ts';
import { chatCompletions } from '../../core/operations/openai.ts';

/** The plugin `prompts` of the request chain serves all of them. */
const OF_PROMPTS = { format: openaiChat, plugin: 'prompts' } as const;

/** The body of a request is a chat request without the fields that the prompt sets. */
const WITH_BODY = {
  ...OF_PROMPTS,
  method: 'POST',
  fields: promptFields,
  validate: chatCompletions.validate,
  validateReceived: bodySchema('prompt-completions'),
} as const;

/** The paths are those of portkey-ai's `prompts` (docs/protocols/portkey-prompts.md#paths). */
export const prompts: readonly Operation[] = [
  {
    ...WITH_BODY,
    id: 'prompts.completions',
    path: '/v1/prompts/{prompt}/completions',
    task: 'generate',
    semconvName: 'chat',
  },
  {
    ...WITH_BODY,
    id: 'prompts.render',
    path: '/v1/prompts/{prompt}/render',
    task: undefined,
    semconvName: 'render_prompt',
  },
  {
    ...OF_PROMPTS,
    id: 'prompts.list',
    method: 'GET',
    path: '/v1/prompts',
    task: undefined,
    semconvName: 'list_prompts',
    validate: () => undefined,
  },
];
