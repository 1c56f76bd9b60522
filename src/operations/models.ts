import { anthropicMessages } from '../formats/anthropic-messages/index.ts';
import { openaiChat } from '../formats/openai-chat/index.ts';
import type { Operation } from '../plugin/index.ts';

type OfGateway = Pick<Operation, 'method' | 'task' | 'validate'>;

/** The gateway answers these itself, without a request body. */
const OF_GATEWAY: OfGateway = { method: 'GET', task: undefined, validate: () => undefined };

const LIST = { ...OF_GATEWAY, id: 'models.list', path: '/v1/models', semconvName: 'list_models' } as const;
/** The name may contain slashes, encoded or not: `@slug/publisher/model`. */
const ONE = { ...OF_GATEWAY, id: 'models.retrieve', path: '/v1/models/{+id}', semconvName: 'retrieve_model' } as const;

/** Clients of Anthropic's API use the same paths and identify themselves by a header (docs/protocols/openai-chat.md#models). */
const ANTHROPIC = { header: 'anthropic-version', format: anthropicMessages } as const;

/** https://platform.openai.com/docs/api-reference/models and https://platform.claude.com/docs/en/api/models-list */
export const models: readonly Operation[] = [
  { ...LIST, format: openaiChat },
  { ...LIST, ...ANTHROPIC },
  { ...ONE, format: openaiChat },
  { ...ONE, ...ANTHROPIC },
];
