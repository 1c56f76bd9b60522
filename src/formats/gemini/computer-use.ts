import type { Conversation, Tool } from '../conversation.ts';
import type { RequestTarget } from '../format.ts';
import { isComputerUse } from '../open-actions.ts';

/** Path of the computer use tool in the request (places.ts). */
export function placeOfComputerUse(tools: readonly Tool[] | undefined): string | undefined {
  const at = tools?.findIndex(isComputerUse) ?? -1;
  return at < 0 ? undefined : `tools[${at}]`;
}

export const LAX = 'the header x-gateway-strict-open-ai-compliance: false';

/** In the Messages API a call's signature is in its id, for every client. */
export function hidesSignatures({ extrasFormat }: Conversation, { strict }: Pick<RequestTarget, 'strict'>): boolean {
  return strict && extrasFormat !== 'anthropic-messages';
}

/**
 * Describes what a request for computer use lacks (docs/protocols/gemini.md#computer-use), for the message of a
 * refusal. The gateway does not refuse such a request itself: newer models that are not the computer-use preview accept
 * the tool as well.
 */
export function hintOfComputerUse(
  conversation: Conversation,
  target: Pick<RequestTarget, 'model' | 'strict'>,
): string | undefined {
  if (placeOfComputerUse(conversation.tools) === undefined) return undefined;
  const missing = hidesSignatures(conversation, target) ? [LAX] : [];
  if (!/computer-use/i.test(target.model))
    missing.unshift(`a model made for it (a computer-use preview), not ${target.model}`);
  return missing.length > 0 ? `The tool computer_use needs ${missing.join(', and ')}.` : undefined;
}
