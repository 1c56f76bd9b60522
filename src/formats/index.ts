import { anthropicMessages } from './anthropic-messages/index.ts';
import type { FormatName } from './conversation.ts';
import type { Format } from './format.ts';
import { gemini } from './gemini/index.ts';
import { openaiChat } from './openai-chat/index.ts';
import { openaiResponses } from './openai-responses/index.ts';

/** Every format by name. Formats and providers meet only in this table and in the neutral conversation. */
export const formats: Readonly<Record<FormatName, Format>> = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  'anthropic-messages': anthropicMessages,
  gemini,
};
