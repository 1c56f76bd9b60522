import type { Operation } from '../plugin/index.ts';
import { chatCompletions } from './chat-completions.ts';
import { chatCountTokens } from './chat-count-tokens.ts';
import { countTokens } from './count-tokens.ts';
import { embeddings } from './embeddings.ts';
import { files } from './files.ts';
import { images } from './images.ts';
import { messages } from './messages.ts';
import { models } from './models.ts';
import { prompts } from './prompts.ts';
import { responses, responsesInputTokens } from './responses.ts';
import { vertexCountTokens } from './vertex-count-tokens.ts';

/** Every operation the gateway serves. */
export const operations: readonly Operation[] = [
  chatCompletions,
  chatCountTokens,
  responses,
  responsesInputTokens,
  messages,
  countTokens,
  vertexCountTokens,
  embeddings,
  images,
  ...prompts,
  ...models,
  ...files,
];
