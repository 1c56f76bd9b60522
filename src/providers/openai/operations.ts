import type { ModelTask } from '../../plugin/index.ts';
import type { Codec } from '../codec.ts';
import { openAiEmbeddings } from './embeddings.ts';
import { openAiImages } from './images.ts';

/**
 * Path of a task under the base of the API (docs/protocols/openai-chat.md#transport), and the codec of a task that is not a
 * conversation.
 */
export interface OpenAiOperation {
  readonly path: string;
  readonly codec?: Codec;
}

/** The tasks of OpenAI and Azure OpenAI. */
export const OPERATIONS: Readonly<Partial<Record<ModelTask, OpenAiOperation>>> = {
  generate: { path: '/chat/completions' },
  embeddings: { path: '/embeddings', codec: openAiEmbeddings },
  images: { path: '/images/generations', codec: openAiImages },
};
