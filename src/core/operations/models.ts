import { anthropicMessages } from '../../formats/anthropic-messages/index.ts';
import { gemini } from '../../formats/gemini/index.ts';
import { openaiChat } from '../../formats/openai-chat/index.ts';
import type { Operation } from '../kernel/index.ts';

type OfGateway = Pick<Operation, 'method' | 'task' | 'validate'>;

/** The gateway answers these itself, without a request body. */
const OF_GATEWAY: OfGateway = { method: 'GET', task: undefined, validate: () => undefined };

const LIST = { ...OF_GATEWAY, id: 'models.list', path: '/v1/models', semconvName: 'list_models' } as const;
/** The name may contain slashes, encoded or not: `@slug/publisher/model`. */
const ONE = { ...OF_GATEWAY, id: 'models.retrieve', path: '/v1/models/{+id}', semconvName: 'retrieve_model' } as const;

/** Clients of Anthropic's API use the same paths and identify themselves by a header (docs/protocols/openai-chat.md#models). */
const ANTHROPIC = { header: 'anthropic-version', format: anthropicMessages } as const;

/** Google's clients send their key, or their name (docs/protocols/gemini.md#models). The listener moves `?key=` to the header. */
const GOOGLE = (['x-goog-api-key', 'x-goog-api-client'] as const).map(
  (header) => ({ header, format: gemini }) as const,
);

/** Versions of Google's API that no other API has. */
const OF_GOOGLE = '/{version:v1beta|v1alpha}/models';

/** Vertex AI's clients list the models of Google, and name one as in their requests (docs/protocols/gemini.md#models). */
const OF_VERTEX = ['/{version:v1|v1beta1}/projects/{project}/locations/{location}', '/{version:v1|v1beta1}'] as const;

/**
 * https://platform.openai.com/docs/api-reference/models, https://platform.claude.com/docs/en/api/models-list and
 * https://ai.google.dev/api/models, https://cloud.google.com/vertex-ai/docs/reference/rest/v1beta1/publishers.models
 */
export const models: readonly Operation[] = [
  ...[LIST, ONE].flatMap((operation): Operation[] => [
    { ...operation, format: openaiChat },
    { ...operation, ...ANTHROPIC },
    ...GOOGLE.map((google) => ({ ...operation, ...google })),
  ]),
  { ...LIST, path: OF_GOOGLE, format: gemini },
  { ...ONE, path: `${OF_GOOGLE}/{+id}`, format: gemini },
  { ...ONE, path: '/{version:v1beta1}/models/{+id}', format: gemini, provider: 'vertex-ai' },
  ...OF_VERTEX.flatMap((place): Operation[] => [
    { ...LIST, path: `${place}/publishers/google/models`, format: gemini, provider: 'vertex-ai' },
    { ...ONE, path: `${place}/publishers/{publisher}/models/{+id}`, format: gemini, provider: 'vertex-ai' },
  ]),
];
