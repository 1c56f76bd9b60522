import type { Operation } from '../../plugin/index.ts';
import { chatCompletions } from './chat-completions.ts';
import { chatCountTokens } from './chat-count-tokens.ts';
import { completions } from './completions.ts';
import { countTokens } from './count-tokens.ts';
import { embeddings } from './embeddings.ts';
import { files } from '../../addons/files/operations.ts';
import { forms } from './forms.ts';
import { geminiCountTokens } from './gemini-count-tokens.ts';
import { geminiEmbeddings } from './gemini-embeddings.ts';
import { geminiGenerate } from './gemini-generate.ts';
import { images } from './images.ts';
import { messages } from './messages.ts';
import { models } from './models.ts';
import { moderations } from './moderations.ts';
import { prompts } from '../../addons/prompts/operation.ts';
import { responses } from './responses.ts';
import { responsesSocket } from '../../addons/responses/responses-socket.ts';
import { speech } from './speech.ts';
import { vertexMessages } from './vertex-messages.ts';

/** Every operation the gateway serves. */
export const operations: readonly Operation[] = [
  chatCompletions,
  chatCountTokens,
  ...responses,
  responsesSocket,
  messages,
  countTokens,
  embeddings,
  images,
  completions,
  moderations,
  speech,
  ...forms,
  ...prompts,
  ...models,
  ...geminiGenerate,
  ...geminiCountTokens,
  ...geminiEmbeddings,
  ...vertexMessages,
  ...files,
];
