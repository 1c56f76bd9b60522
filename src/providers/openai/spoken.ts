import { NO_EXTENSIONS } from '../extensions.ts';
import type { Spoken } from '../definition.ts';

/** OpenAI's own APIs, one of which a request gets by its own API and `api` of the entry. */
export const OPENAI_APIS: readonly Spoken[] = [
  { format: 'openai-chat', host: 'direct', extensions: NO_EXTENSIONS },
  { format: 'openai-responses', host: 'direct', extensions: NO_EXTENSIONS },
];
