import type { Operation } from '../kernel/index.ts';
import {
  chatCompletions,
  chatCountTokens,
  completions,
  embeddings,
  forms,
  images,
  moderations,
  speech,
} from './openai.ts';
import { countTokens, messages, vertexMessages } from './messages.ts';
import { geminiCountTokens, geminiEmbeddings, geminiGenerate } from './gemini.ts';
import { models } from './models.ts';
import { responses } from './responses.ts';

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
