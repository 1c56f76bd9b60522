import type { Operation } from '../kernel/index.ts';
import { chatCompletions } from './chat-completions.ts';
import { chatCountTokens } from './chat-count-tokens.ts';
import { completions } from './completions.ts';
import { countTokens } from './count-tokens.ts';
import { embeddings } from './embeddings.ts';
import { forms } from './forms.ts';
import { geminiCountTokens } from './gemini-count-tokens.ts';
import { geminiEmbeddings } from './gemini-embeddings.ts';
import { geminiGenerate } from './gemini-generate.ts';
import { images } from './images.ts';
import { messages } from './messages.ts';
import { models } from './models.ts';
import { moderations } from './moderations.ts';
import { responses } from './responses.ts';
import { speech } from './speech.ts';
import { vertexMessages } from './vertex-messages.ts';

const table: Operation[] = [
  chatCompletions,
  chatCountTokens,
  ...responses,
  messages,
  countTokens,
  embeddings,
  images,
  completions,
  moderations,
  speech,
  ...forms,
  ...models,
  ...geminiGenerate,
  ...geminiCountTokens,
  ...geminiEmbeddings,
  ...vertexMessages,
];

/** Every operation that the gateway serves: those of the core, then those of the add-ons. */
export const operations: readonly Operation[] = table;

/** Called while an add-on is registered, before any route is compiled. */
export const addOperations = (more: readonly Operation[]): void => void table.push(...more);
