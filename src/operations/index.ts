import type { Operation } from '../plugin/index.ts';
import { chatCompletions } from './chat-completions.ts';
import { chatCountTokens } from './chat-count-tokens.ts';
import { countTokens } from './count-tokens.ts';
import { embeddings } from './embeddings.ts';
import { files } from './files.ts';
import { geminiCountTokens } from './gemini-count-tokens.ts';
import { geminiEmbeddings } from './gemini-embeddings.ts';
import { geminiGenerate } from './gemini-generate.ts';
import { images } from './images.ts';
import { messages } from './messages.ts';
import { models } from './models.ts';
import { prompts } from './prompts.ts';
import { vertexMessages } from './vertex-messages.ts';

/** Every operation the gateway serves. */
export const operations: readonly Operation[] = [
  chatCompletions,
  chatCountTokens,
  messages,
  countTokens,
  embeddings,
  images,
  ...prompts,
  ...models,
  ...geminiGenerate,
  ...geminiCountTokens,
  ...geminiEmbeddings,
  ...vertexMessages,
  ...files,
];
