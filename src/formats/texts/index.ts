import type { FormatName } from '../conversation.ts';
import { chatLayout } from './chat-layout.ts';
import { geminiLayout } from './gemini-layout.ts';
import type { ReplyLayout } from './layout.ts';
import { messagesLayout } from './messages-layout.ts';
import { responsesLayout } from './responses-layout.ts';

/** Where the replies of a client's API have their texts. */
export const replyLayouts: Readonly<Record<FormatName, ReplyLayout>> = {
  'openai-chat': chatLayout,
  'openai-responses': responsesLayout,
  'anthropic-messages': messagesLayout,
  gemini: geminiLayout,
};
