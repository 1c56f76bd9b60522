import type { Conversation, Loss } from './conversation.ts';

/** What was lost in reading the caller's body already, for a target that is sent the conversation in place of it. */
export function lossesOfReading({ unread = [] }: Conversation): readonly Loss[] {
  return unread.map((param) => ({ param, action: 'dropped', reason: 'No field of this name is known here.' }));
}
