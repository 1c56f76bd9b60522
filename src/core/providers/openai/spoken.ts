import { NO_EXTENSIONS } from '../extensions.ts';
import type { Spoken } from '../definition.ts';

/** OpenAI's own APIs. The client's API and `api` of the entry decide which one a request is sent to. */
export const OPENAI_APIS: readonly Spoken[] = [
  { format: 'openai-chat', host: 'direct', extensions: NO_EXTENSIONS },
  { format: 'openai-responses', host: 'direct', extensions: NO_EXTENSIONS },
];
