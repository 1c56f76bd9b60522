import type { Operation } from '../plugin/index.ts';
import { chatCompletions } from './chat-completions.ts';
import { countTokens } from './count-tokens.ts';
import { embeddings } from './embeddings.ts';
import { images } from './images.ts';
import { messages } from './messages.ts';

/** Every operation the gateway serves. */
export const operations: readonly Operation[] = [chatCompletions, messages, countTokens, embeddings, images];
